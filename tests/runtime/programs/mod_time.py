import time
t = time.time(); a = time.perf_counter(); time.sleep(0.001); print(time.perf_counter() > a, time.gmtime(0).tm_year, time.strftime("%Y-%m-%d", time.gmtime(86400)), time.strptime("2024-02-03", "%Y-%m-%d").tm_yday, time.monotonic() > 0, time.time_ns() > 0, time.asctime(time.gmtime(0)), time.process_time() >= 0, time.mktime(time.gmtime(0)) is not None)
import timeit; print(timeit.timeit(lambda: None, number=3) >= 0)
