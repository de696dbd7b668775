# One program against every engine that MEMCAL_TEST_ENGINES lists; it fails where none is listed.
# The guest is the whole of the tests' image: static, and so without sanitizers.
add_executable(engine_guest engine/guest.c)
target_compile_definitions(engine_guest PRIVATE _GNU_SOURCE)
target_compile_options(engine_guest PRIVATE -fno-sanitize=all)
target_link_options(engine_guest PRIVATE -fno-sanitize=all -static)

add_executable(test_engines engine/main.c engine/lifecycle.c engine/streams.c engine/files.c engine/images.c)
target_link_libraries(test_engines PRIVATE memcal_core PkgConfig::CMOCKA)
target_compile_definitions(test_engines PRIVATE ENGINE_GUEST="$<TARGET_FILE:engine_guest>")
add_dependencies(test_engines engine_guest)
add_test(NAME engine/engines COMMAND test_engines)
set_tests_properties(engine/engines PROPERTIES LABELS engine TIMEOUT 600)
