import statistics as st
d = [1, 2, 2, 3, 4, 10]
print(st.mean(d), st.median(d), st.mode(d), st.stdev(d), st.pvariance(d), st.multimode("aabb"), st.quantiles(d, n=4), st.harmonic_mean([1, 2]), st.fmean(d), st.NormalDist(0, 1).cdf(0))
try: st.mean([])
except st.StatisticsError as e: print(e)
