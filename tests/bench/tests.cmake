# Measured on the program as users get it: a sanitized build has no benchmarks.
if(MEMCAL_SANITIZE)
  message(STATUS "No benchmarks: this build is sanitized")
  return()
endif()

set(SOURCES_overhead bench/record.c bench/replay.c)
foreach(name overhead clock)
  add_executable(bench_${name} bench/${name}.c bench/bench.c ${SOURCES_${name}})
  target_include_directories(bench_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(bench_${name} PRIVATE memcal_core)
  add_test(NAME bench/${name} COMMAND bench_${name})
  # Alone: what runs beside it would be measured too.
  set_tests_properties(bench/${name} PROPERTIES LABELS bench TIMEOUT 300 RUN_SERIAL ON)
endforeach()
target_compile_definitions(bench_overhead PRIVATE MEMCAL_PROGRAM="$<TARGET_FILE:memcal>"
  BENCH_RUNFILE="${CMAKE_CURRENT_SOURCE_DIR}/bench/data/runs/overhead.yaml")
add_dependencies(bench_overhead memcal)
