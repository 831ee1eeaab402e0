/* export.cgi: the supplier's stock list of a week, as CSV, from the database */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  const char *week = getenv("QUERY_STRING");
  PGconn *db = PQconnectdb(getenv("PARTS_DB"));
  const char *args[1] = { week && *week ? week : "1" };
  PGresult *r = PQexecParams(db, "SELECT id, name, stock FROM supplier_stock($1::int)", 1, NULL, args, NULL, NULL, 0);
  if (PQresultStatus(r) != PGRES_TUPLES_OK) {
    printf("Status: 502\r\nContent-Type: text/plain\r\n\r\n%s", PQerrorMessage(db));
    return 0;
  }
  printf("Content-Type: text/csv\r\n\r\n");
  for (int i = 0; i < PQntuples(r); i++) printf("%s;%s;%s\n", PQgetvalue(r, i, 0), PQgetvalue(r, i, 1), PQgetvalue(r, i, 2));
  PQfinish(db);
  return 0;
}
