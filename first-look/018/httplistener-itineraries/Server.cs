// Travel itineraries: a self-hosted HttpListener service that asks the airlines' partner API.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Net;
using System.Text;
using System.Threading;

class Server
{
    static readonly Dictionary<string, string> Airports = new Dictionary<string, string> {
        { "AMS", "Amsterdam Schiphol" }, { "LIS", "Lisbon Humberto Delgado" }, { "OSL", "Oslo Gardermoen" },
        { "VIE", "Vienna Schwechat" }, { "GVA", "Geneva Cointrin" }, { "ATH", "Athens Eleftherios Venizelos" } };
    static string partner;
    static StreamWriter timing;

    static string Env(string name, string fallback)
    {
        return Environment.GetEnvironmentVariable(name) ?? fallback;
    }

    static string Ask(string path)
    {
        var clock = Stopwatch.StartNew();
        var request = (HttpWebRequest)WebRequest.Create(partner + path);
        request.Accept = "application/json";
        request.Timeout = 10000;
        string text, own;
        using (var response = (HttpWebResponse)request.GetResponse())
        using (var reader = new StreamReader(response.GetResponseStream(), Encoding.UTF8))
        {
            text = reader.ReadToEnd();
            own = response.Headers["X-Own-Ms"];
        }
        if (timing != null)
            lock (timing)
                timing.WriteLine("{0} call_ms={1:F1} partner_ms={2} connections={3}", path,
                    clock.Elapsed.TotalMilliseconds, own, request.ServicePoint.CurrentConnections);
        return text;
    }

    static string Answer(string path, out int status)
    {
        status = 200;
        var parts = path.Trim('/').Split('/');
        if (parts.Length == 2 && parts[0] == "itineraries")
            return "{\"itinerary\":\"" + parts[1] + "\",\"fare\":" + Ask("/fares/" + parts[1]) + "}";
        if (parts.Length == 2 && parts[0] == "packages")
            return "{\"package\":\"" + parts[1] + "\",\"offers\":" + Ask("/offers/" + parts[1]) + "}";
        string name;
        if (parts.Length == 2 && parts[0] == "airports" && Airports.TryGetValue(parts[1], out name))
            return "{\"code\":\"" + parts[1] + "\",\"name\":\"" + name + "\"}";
        if (path == "/health")
            return "{\"ok\":true}";
        status = 404;
        return "{\"error\":\"not found\"}";
    }

    static void Work(HttpListener listener)
    {
        while (true)
        {
            HttpListenerContext context;
            try { context = listener.GetContext(); }
            catch (Exception) { return; }
            try
            {
                int status;
                string text;
                try { text = Answer(context.Request.Url.AbsolutePath, out status); }
                catch (WebException e) { status = 502; text = "{\"error\":\"" + e.Status + "\"}"; }
                var bytes = Encoding.UTF8.GetBytes(text);
                context.Response.StatusCode = status;
                context.Response.ContentType = "application/json";
                context.Response.ContentLength64 = bytes.Length;
                context.Response.Close(bytes, false);
            }
            catch (Exception e) { Console.Error.WriteLine(e.Message); }
        }
    }

    static void Main()
    {
        partner = "http://127.0.0.1:" + Env("PARTNER_PORT", "9001");
        ServicePointManager.FindServicePoint(new Uri(partner)).ConnectionLimit = int.Parse(Env("CONNECTION_LIMIT", "2"));
        ServicePointManager.UseNagleAlgorithm = false;
        ServicePointManager.Expect100Continue = false;
        ThreadPool.SetMinThreads(48, 48);
        var log = Environment.GetEnvironmentVariable("TIMING_LOG");
        if (log != null) timing = new StreamWriter(log) { AutoFlush = true };
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:" + Env("PORT", "9000") + "/");
        listener.Start();
        for (var i = 0; i < 24; i++)
            new Thread(() => Work(listener)) { IsBackground = true, Name = "http-" + i }.Start();
        for (var i = 0; i < 6; i++) { Ask("/fares/10"); }
        Console.WriteLine("listening");
        Thread.Sleep(Timeout.Infinite);
    }
}
