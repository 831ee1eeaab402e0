// Freight tariffs: the whole tariff book is kept in memory, quotes are worked out from it.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Text;
using System.Threading;
using System.Web;

namespace Freight
{
    public class Band { public int UpTo; public decimal Rate; public string Unit; public Band Next; }

    public class Tariff
    {
        public string Lane;
        public string Carrier;
        public DateTime From;
        public Band First;
        public List<string> Surcharges;
    }

    public static class Book
    {
        public static readonly Dictionary<string, List<Tariff>> Lanes = new Dictionary<string, List<Tariff>>();
        static readonly object gate = new object();
        static bool loaded;
        static readonly string[] Ports = { "HAM", "RTM", "ANR", "FXT", "LEH", "GOA", "PIR", "VLC", "GDN", "HEL", "OSL", "CPH", "BRV", "LIS", "ALG", "TNG" };
        static readonly string[] Carriers = { "Nordline", "Hansa", "Meridian", "Atlas", "Koning", "Brask", "Ostsee", "Ligure" };

        public static void Load()
        {
            lock (gate)
            {
                if (loaded) return;
                int perLane = int.Parse(Environment.GetEnvironmentVariable("TARIFFS_PER_LANE") ?? "200");
                var r = new Random(11);
                foreach (var a in Ports) foreach (var b in Ports)
                {
                    if (a == b) continue;
                    var list = new List<Tariff>(perLane);
                    for (int i = 0; i < perLane; i++)
                    {
                        var t = new Tariff { Lane = a + "-" + b, Carrier = Carriers[r.Next(Carriers.Length)], From = new DateTime(2024, 1, 1).AddDays(i), Surcharges = new List<string>() };
                        Band head = null;
                        for (int k = 12; k > 0; k--) head = new Band { UpTo = k * 2500, Rate = 40m + r.Next(900) / 10m, Unit = "t" + k, Next = head };
                        t.First = head;
                        for (int k = 0; k < 4; k++) t.Surcharges.Add("S" + r.Next(100000));
                        list.Add(t);
                    }
                    Lanes[a + "-" + b] = list;
                }
                loaded = true;
                StartLog();
            }
        }

        // how often the collector ran, for tests
        static void StartLog()
        {
            var name = Environment.GetEnvironmentVariable("GC_LOG");
            if (name == null) return;
            new Thread(() =>
            {
                int last = GC.CollectionCount(1);
                var clock = Stopwatch.StartNew();
                long before = clock.ElapsedMilliseconds;
                while (true)
                {
                    Thread.Sleep(1);
                    long now = clock.ElapsedMilliseconds;
                    int n = GC.CollectionCount(1);
                    if (n != last || now - before > 12)
                        File.AppendAllText(name, now + " gap=" + (now - before) + " major=" + (n - last) + " heap=" + GC.GetTotalMemory(false) / 1000000 + "\n");
                    last = n;
                    before = clock.ElapsedMilliseconds;
                }
            }) { IsBackground = true }.Start();
        }
    }

    public class Quote : IHttpHandler
    {
        public bool IsReusable { get { return true; } }

        public void ProcessRequest(HttpContext c)
        {
            Book.Load();
            List<Tariff> list;
            if (!Book.Lanes.TryGetValue(c.Request["lane"] ?? "", out list)) { c.Response.StatusCode = 404; return; }
            int kg = int.Parse(c.Request["kg"] ?? "1000");
            Tariff best = null; decimal price = 0;
            for (int i = Math.Max(0, list.Count - 60); i < list.Count; i++)
            {
                var band = list[i].First;
                while (band.Next != null && band.UpTo < kg) band = band.Next;
                var p = band.Rate * kg / 1000m;
                if (best == null || p < price) { best = list[i]; price = p; }
            }
            c.Response.ContentType = "application/json";
            c.Response.Write("{\"lane\":\"" + best.Lane + "\",\"carrier\":\"" + best.Carrier + "\",\"kg\":" + kg + ",\"price\":" + price.ToString("0.00", CultureInfo.InvariantCulture) + "}");
        }
    }

    // A label for the container: a bitmap with the lane's bar code, sent packed.
    public class Label : IHttpHandler
    {
        public bool IsReusable { get { return true; } }
        const int Width = 1240, Height = 1754;

        public void ProcessRequest(HttpContext c)
        {
            Book.Load();
            var lane = c.Request["lane"] ?? "";
            var page = Pages.Rent(Width * Height);
            try
            {
                int x = 40;
                foreach (var ch in lane)
                    for (int bit = 0; bit < 8; bit++, x += 4)
                        if ((ch >> bit & 1) == 1)
                            for (int y = 100; y < 160; y++) for (int d = 0; d < 4; d++) page[y * Width + x + d] = 255;
                var text = new StringBuilder("P5-rle ").Append(Width).Append(' ').Append(Height).Append('\n');
                int run = 0; byte was = page[100 * Width];
                for (int i = 100 * Width; i < 101 * Width; i++)
                {
                    if (page[i] == was) { run++; continue; }
                    text.Append(was == 0 ? 'w' : 'b').Append(run); was = page[i]; run = 1;
                }
                c.Response.ContentType = "text/plain";
                c.Response.Write(text.Append('\n').ToString());
            }
            finally { Pages.Return(page); }
        }
    }

    public static class Pages
    {
        static readonly Stack<byte[]> spare = new Stack<byte[]>();
        static readonly bool pooled = Environment.GetEnvironmentVariable("PAGES") == "pooled";

        public static byte[] Rent(int size)
        {
            if (pooled)
                lock (spare)
                    if (spare.Count > 0) return spare.Pop();
            return new byte[size];
        }

        public static void Return(byte[] page)
        {
            if (!pooled) return;
            Array.Clear(page, 0, page.Length);
            lock (spare) spare.Push(page);
        }
    }

    public class Health : IHttpHandler
    {
        public bool IsReusable { get { return true; } }
        public void ProcessRequest(HttpContext c) { Book.Load(); c.Response.ContentType = "text/plain"; c.Response.Write("ok\n"); }
    }
}
