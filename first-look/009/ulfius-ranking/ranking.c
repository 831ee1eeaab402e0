#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include <ulfius.h>

/* A ranking of songs: everybody reads it, votes change it. */
struct song { unsigned id; unsigned votes; double weight; char title[40]; };

static struct song *songs;
static size_t n_songs;
static pthread_rwlock_t songs_lock = PTHREAD_RWLOCK_INITIALIZER;

static double score(const struct song *s) { return s->votes * s->weight; }

static int by_score(const void *a, const void *b) {
  double x = score(a), y = score(b);
  return x < y ? 1 : x > y ? -1 : (int)((const struct song *)a)->id - (int)((const struct song *)b)->id;
}

static json_t *as_json(const struct song *s) {
  return json_pack("{s:i,s:s,s:f}", "id", s->id, "title", s->title, "score", score(s));
}

static int get_top(const struct _u_request *req, struct _u_response *res, void *user) {
  const char *n = u_map_get(req->map_url, "n");
  size_t want = n ? strtoul(n, NULL, 10) : 10;
  json_t *list = json_array();
  pthread_rwlock_rdlock(&songs_lock);
  for (size_t i = 0; i < want && i < n_songs; i++) json_array_append_new(list, as_json(&songs[i]));
  pthread_rwlock_unlock(&songs_lock);
  ulfius_set_json_body_response(res, 200, list);
  json_decref(list);
  return U_CALLBACK_CONTINUE;
}

static int post_vote(const struct _u_request *req, struct _u_response *res, void *user) {
  unsigned id = strtoul(u_map_get(req->map_url, "id"), NULL, 10);
  size_t place = 0;
  pthread_rwlock_wrlock(&songs_lock);
  for (size_t i = 0; i < n_songs; i++) {
    songs[i].weight = songs[i].weight * 0.999 + (double)((songs[i].id * 2654435761u + id * 40503u) % 1000) / 1e6;
    if (songs[i].id == id) songs[i].votes++;
  }
  qsort(songs, n_songs, sizeof *songs, by_score);
  while (place < n_songs && songs[place].id != id) place++;
  pthread_rwlock_unlock(&songs_lock);
  json_t *j = json_pack("{s:i,s:i}", "id", id, "place", (int)place + 1);
  ulfius_set_json_body_response(res, 200, j);
  json_decref(j);
  return U_CALLBACK_CONTINUE;
}

int main(int argc, char **argv) {
  struct _u_instance web;
  struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])) };
  addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  n_songs = strtoul(argv[2], NULL, 10);
  songs = calloc(n_songs, sizeof *songs);
  for (size_t i = 0; i < n_songs; i++) {
    songs[i].id = i; songs[i].votes = i * 2654435761u % 5000; songs[i].weight = 1;
    snprintf(songs[i].title, sizeof songs[i].title, "Song number %zu", i);
  }
  qsort(songs, n_songs, sizeof *songs, by_score);
  sigset_t stop; int sig;
  sigemptyset(&stop); sigaddset(&stop, SIGTERM); sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, NULL);
  if (ulfius_init_instance(&web, atoi(argv[1]), &addr, NULL) != U_OK) return 1;
  ulfius_add_endpoint_by_val(&web, "GET", NULL, "/top", 0, &get_top, NULL);
  ulfius_add_endpoint_by_val(&web, "POST", NULL, "/vote/:id", 0, &post_vote, NULL);
  if (ulfius_start_framework(&web) != U_OK) return 1;
  sigwait(&stop, &sig);
  ulfius_stop_framework(&web);
  return 0;
}
