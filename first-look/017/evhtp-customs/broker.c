/* Three Kafka brokers (librdkafka's own mock cluster) and a registry on PORT that names them. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char err[512];
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), err, sizeof err);
    rd_kafka_mock_cluster_t *c = rd_kafka_mock_cluster_new(rk, 3);
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int s = socket(AF_INET, SOCK_STREAM, 0), on = 1, fd;
    if (argc != 2 || !c)
        return 2;
    rd_kafka_mock_topic_create(c, "customs.declarations", 1, 3);
    a.sin_port = htons(atoi(argv[1]));
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s, (struct sockaddr *)&a, sizeof a) || listen(s, 16)) { perror("registry"); return 1; }
    while ((fd = accept(s, NULL, NULL)) >= 0) {
        const char *list = rd_kafka_mock_cluster_bootstraps(c);
        if (write(fd, list, strlen(list)) < 0) perror("write");
        close(fd);
    }
    return 0;
}
