from datetime import datetime, date, time, timedelta, timezone
import datetime as dt, calendar, zoneinfo
d = datetime(2024, 2, 28, 23, 30, tzinfo=timezone.utc)
print(d + timedelta(days=2), d.isoformat(), d.strftime("%A %d %B %Y %H:%M:%S"), datetime.strptime("03/04/2024", "%d/%m/%Y"), date(2024, 1, 31).weekday(), d.date(), d.time(), (date(2024, 3, 1) - date(2024, 2, 1)).days, timedelta(hours=25), datetime.fromisoformat("2024-01-02T03:04:05"), d.timestamp(), datetime.fromtimestamp(0, timezone.utc), d.replace(year=2025), d.astimezone(timezone(timedelta(hours=2))), date.fromisoformat("2024-02-29"), time(1, 2) < time(2), dt.MAXYEAR, d.isocalendar(), f"{d:%H}", timedelta(seconds=90).total_seconds(), date.min)
print(calendar.isleap(2024), calendar.monthrange(2024, 2), calendar.month(2024, 2), list(calendar.day_name)[0], calendar.timegm((1970, 1, 2, 0, 0, 0)))
print(datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Paris")).utcoffset(), "UTC" in zoneinfo.available_timezones())
try: datetime(2024, 13, 1)
except ValueError as e: print(type(e).__name__)
try: zoneinfo.ZoneInfo("No/Where")
except zoneinfo.ZoneInfoNotFoundError as e: print("not found")
class MyDate(date):
    def tomorrow(self): return self + timedelta(1)
print(MyDate(2024, 1, 1).tomorrow(), dt.datetime.now() > dt.datetime(2000, 1, 1))
