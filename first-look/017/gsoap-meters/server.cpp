// Meter data service: SOAP for readings from the field gateways, plain GET for the portal. Store: RocksDB.
#include "soapH.h"
#include "meters.nsmap"
#include <rocksdb/db.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/statistics.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/table.h>
#include <netinet/tcp.h>
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <thread>

static rocksdb::DB *db;
static bool timing = getenv("METERS_TIMING") != nullptr;

static long env_long(const char *name, long dflt) {
    const char *v = getenv(name);
    return v ? atol(v) : dflt;
}

static rocksdb::Options options_for(long limit_kb) {
    rocksdb::Options o;
    o.create_if_missing = true;
    o.compression = rocksdb::kNoCompression;
    o.level0_file_num_compaction_trigger = 4;
    o.level0_slowdown_writes_trigger = 4;
    o.level0_stop_writes_trigger = 64;
    o.write_buffer_size = 64 << 20;
    o.stats_dump_period_sec = 0;
    if (limit_kb > 0)   // spares the disk that the database shares with the historian
        o.rate_limiter.reset(rocksdb::NewGenericRateLimiter(limit_kb * 1024));
    if (timing) o.statistics = rocksdb::CreateDBStatistics();
    return o;
}

static std::string meter_key(int meter, long long seq) {
    char b[64];
    snprintf(b, sizeof b, "r/%06d/%012lld", meter, seq);
    return b;
}

// fills a database with a week of load profiles as the collectors leave it: several overlapping L0 files
static int prepare(const char *dir) {
    rocksdb::Options o = options_for(0);
    o.disable_auto_compactions = true;
    rocksdb::Status s = rocksdb::DB::Open(o, dir, &db);
    if (!s.ok()) { fprintf(stderr, "%s\n", s.ToString().c_str()); return 1; }
    std::mt19937 rnd(17);
    rocksdb::WriteOptions w;
    w.disableWAL = true;
    for (int file = 0; file < 8; file++) {
        for (int i = 0; i < 8000; i++) {
            std::string profile(1000, ' ');
            for (char &c : profile) c = "0123456789;"[rnd() % 11];
            db->Put(w, meter_key(rnd() % 4000, file * 8000 + i), profile);
        }
        for (int m = 0; m < 4000; m++) db->Put(w, "last/" + std::to_string(m), std::to_string(100 + rnd() % 9000));
        db->Flush(rocksdb::FlushOptions());
    }
    db->Close();
    delete db;
    return 0;
}

// the concentrators deliver load profiles in files of 160 KB, which are stored with one batch for each 20 meters
static void import_files() {
    std::mt19937 rnd(3);
    for (long long n = 0;; n++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(560 + rnd() % 60));
        auto a = std::chrono::steady_clock::now();
        for (int part = 0; part < 8; part++) {
            rocksdb::WriteBatch batch;
            for (int i = 0; i < 20; i++) {
                std::string profile(995, ' ');
                for (char &c : profile) c = "0123456789;"[rnd() % 11];
                batch.Put(meter_key(rnd() % 4000, 1000000 + n * 1000 + part * 20 + i), profile);
            }
            db->Write(rocksdb::WriteOptions(), &batch);
        }
        if (timing) fprintf(stderr, "import: %.1f ms\n",
                            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - a).count());
    }
}

int ns__putReading(struct soap *soap, char *meter, LONG64 seq, double kwh, double volt, char *quality, LONG64 *receipt) {
    if (!meter || !*meter) return soap_sender_fault(soap, "no meter", nullptr);
    char v[128];
    int len = snprintf(v, sizeof v, "%.3f;%.1f;%s", kwh, volt, quality ? quality : "");
    rocksdb::WriteBatch b;
    b.Put(meter_key(atoi(meter), 2000000 + seq), rocksdb::Slice(v, len));
    b.Put(std::string("last/") + meter, rocksdb::Slice(v, len));
    if (timing) { rocksdb::SetPerfLevel(rocksdb::kEnableTime); rocksdb::get_perf_context()->Reset(); }
    auto a = std::chrono::steady_clock::now();
    rocksdb::Status s = db->Write(rocksdb::WriteOptions(), &b);
    if (timing) {
        auto *p = rocksdb::get_perf_context();
        fprintf(stderr, "put %.1f ms, delayed %.1f, write thread wait %.1f, wal %.1f, memtable %.1f\n",
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - a).count(),
                p->write_delay_time / 1e6, p->write_thread_wait_nanos / 1e6, p->write_wal_time / 1e6, p->write_memtable_time / 1e6);
    }
    if (!s.ok()) return soap_receiver_fault(soap, s.ToString().c_str(), nullptr);
    *receipt = seq;
    return SOAP_OK;
}

static int answer(struct soap *soap, int code, const std::string &text) {
    soap->http_content = "application/json";
    soap->length = 0;
    if (soap_response(soap, code == 200 ? (int)SOAP_FILE : 404) || soap_send_raw(soap, text.data(), text.size()) || soap_end_send(soap))
        return soap->error;
    return SOAP_OK;
}

static int http_get(struct soap *soap) {
    std::string path = soap->path, v;
    if (path == "/health/") return answer(soap, 200, "{\"ok\":true}");
    if (path == "/stalls/" && timing) {
        std::string delayed, stopped, l0;
        db->GetProperty("rocksdb.actual-delayed-write-rate", &delayed);
        db->GetProperty("rocksdb.is-write-stopped", &stopped);
        db->GetProperty("rocksdb.num-files-at-level0", &l0);
        uint64_t stall = db->GetOptions().statistics->getTickerCount(rocksdb::STALL_MICROS);
        return answer(soap, 200, "{\"rate\":" + delayed + ",\"stopped\":" + stopped + ",\"l0\":" + l0 + ",\"stall_micros\":" + std::to_string(stall) + "}");
    }
    if (path.rfind("/last/", 0) == 0) {
        rocksdb::Status s = db->Get(rocksdb::ReadOptions(), path.substr(1), &v);
        if (s.ok()) return answer(soap, 200, "{\"last\":\"" + v + "\"}");
    }
    return 404;
}

static void serve(struct soap *soap) {
    int on = 1;
    setsockopt(soap->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    soap_serve(soap);
    soap_destroy(soap);
    soap_end(soap);
    soap_free(soap);
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "prepare")) return prepare(argv[2]);
    if (argc != 2) return 2;
    signal(SIGPIPE, SIG_IGN);
    rocksdb::Options o = options_for(env_long("RATE_LIMIT_KB", 0));
    rocksdb::Status s = rocksdb::DB::Open(o, argv[1], &db);
    if (!s.ok()) { fprintf(stderr, "%s\n", s.ToString().c_str()); return 1; }
    struct soap *master = soap_new1(SOAP_IO_KEEPALIVE);
    master->bind_flags = SO_REUSEADDR;
    master->max_keep_alive = 1000000;
    master->recv_timeout = master->send_timeout = 60;
    master->fget = http_get;
    if (!soap_valid_socket(soap_bind(master, "127.0.0.1", env_long("PORT", 8080), 256))) { soap_print_fault(master, stderr); return 1; }
    std::thread(import_files).detach();
    for (;;) {
        if (!soap_valid_socket(soap_accept(master))) continue;
        std::thread(serve, soap_copy(master)).detach();
    }
}
