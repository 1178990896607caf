import heapq, bisect
h = [5, 1, 4]; heapq.heapify(h); heapq.heappush(h, 0); print(heapq.heappop(h), heapq.nsmallest(2, h), heapq.nlargest(1, h), list(heapq.merge([1, 3], [2])), heapq.heappushpop(h, 9), heapq.heapreplace(h, 7), h)
l = [1, 3, 5]; bisect.insort(l, 4); print(l, bisect.bisect_left(l, 3), bisect.bisect(l, 3), bisect.bisect_right([1, 2], 2, key=lambda x: x))
