# The Python programs inside the images: their logic on the host, and themselves in real containers with the real Hermes.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME images/programs COMMAND ${Python3_EXECUTABLE} -m unittest discover -s ${CMAKE_CURRENT_SOURCE_DIR}/images)
set_tests_properties(images/programs PROPERTIES LABELS images TIMEOUT 600
  ENVIRONMENT "MEMCAL_TEST_IMAGES=1;PYTHONDONTWRITEBYTECODE=1")
