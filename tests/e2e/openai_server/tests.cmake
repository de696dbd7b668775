# The openai upstream before LiteLLM's proxy, installed from PyPI into the build folder the first time.
find_package(Python3 COMPONENTS Interpreter)
add_executable(e2e_openai_server ${CMAKE_CURRENT_LIST_DIR}/openai_server.c)
target_link_libraries(e2e_openai_server PRIVATE memcal_core PkgConfig::CMOCKA)
target_include_directories(e2e_openai_server PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../../unit)
add_test(NAME e2e/openai_server
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/openai_server.py ${CMAKE_BINARY_DIR}/e2e-openai-server
    $<TARGET_FILE:e2e_openai_server>)
set_tests_properties(e2e/openai_server PROPERTIES LABELS e2e TIMEOUT 900)
