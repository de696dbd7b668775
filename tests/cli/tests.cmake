# The commands that need no engine, as people and machines use them.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_executable(make_run cli/make_run.c)
target_link_libraries(make_run PRIVATE stored_run)
add_test(NAME cli/commands COMMAND ${Python3_EXECUTABLE} -m unittest discover -s ${CMAKE_CURRENT_SOURCE_DIR}/cli)
set_tests_properties(cli/commands PROPERTIES LABELS cli TIMEOUT 600
  ENVIRONMENT "MEMCAL=$<TARGET_FILE:memcal>;MEMCAL_MAKE_RUN=$<TARGET_FILE:make_run>;PYTHONDONTWRITEBYTECODE=1")
