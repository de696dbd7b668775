# The program as users run it, against every engine that MEMCAL_TEST_ENGINES lists; they fail where none is listed.
# A sanitized build takes part with the fast ones: it finds leaks of the controller, and its images come from a plain build.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
set(E2E_ENVIRONMENT "MEMCAL_PROGRAM=$<TARGET_FILE:memcal>;PYTHONDONTWRITEBYTECODE=1"
  "MEMCAL_E2E_WORK=${CMAKE_BINARY_DIR}/e2e" "MEMCAL_VERSION=${PROJECT_VERSION}")

function(add_e2e name timeout)
  add_test(NAME e2e/${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/e2e/test_${name}.py)
  set_tests_properties(e2e/${name} PROPERTIES LABELS e2e TIMEOUT ${timeout} RUN_SERIAL ON
    FIXTURES_REQUIRED e2e_images ENVIRONMENT "${E2E_ENVIRONMENT}")
endfunction()

add_e2e(images 2400)
set_tests_properties(e2e/images PROPERTIES FIXTURES_REQUIRED "" FIXTURES_SETUP e2e_images)
add_e2e(program 300)
add_e2e(cancel 300)
add_e2e(errors 120)
if(NOT MEMCAL_SANITIZE)
  set_tests_properties(e2e/images PROPERTIES ENVIRONMENT "${E2E_ENVIRONMENT};MEMCAL_TEST_BUILD=1")
  # What the quickstart leaves in the build's folder is what evidence looks at.
  add_e2e(quickstart 600)
  set_tests_properties(e2e/quickstart PROPERTIES FIXTURES_SETUP e2e_quickstart)
  add_e2e(evidence 120)
  set_tests_properties(e2e/evidence PROPERTIES FIXTURES_REQUIRED "e2e_images;e2e_quickstart")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/openai_server/tests.cmake)
