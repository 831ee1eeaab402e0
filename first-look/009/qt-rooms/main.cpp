#include <QCoreApplication>
#include <QHttpServer>
#include <QHttpServerResponse>
#include <QJsonArray>
#include <QJsonObject>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>

int main(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    const QStringList args = app.arguments();

    QSqlDatabase db = QSqlDatabase::addDatabase("QPSQL");
    db.setHostName("127.0.0.1");
    db.setPort(args.at(2).toInt());
    db.setDatabaseName("rooms");
    db.setUserName("postgres");
    if (!db.open())
        qFatal("%s", qPrintable(db.lastError().text()));

    QHttpServer server;
    server.route("/health", [] { return "ok\n"; });

    server.route("/room/<arg>", [](int id) {
        QSqlQuery q;
        q.prepare("SELECT id, name, seats FROM room WHERE id = ?");
        q.addBindValue(id);
        if (!q.exec() || !q.next())
            return QHttpServerResponse(QHttpServerResponse::StatusCode::NotFound);
        return QHttpServerResponse(QJsonObject{
            {"id", q.value(0).toInt()}, {"name", q.value(1).toString()}, {"seats", q.value(2).toInt()}});
    });

    server.route("/occupancy/<arg>", [](int week) {
        QSqlQuery q;
        q.prepare("SELECT room_id, count(*), sum(upper(during) - lower(during)) FROM booking "
                  "WHERE week >= ? GROUP BY room_id ORDER BY 2 DESC LIMIT 20");
        q.addBindValue(week);
        if (!q.exec())
            return QHttpServerResponse(QHttpServerResponse::StatusCode::InternalServerError);
        QJsonArray rows;
        while (q.next())
            rows.append(QJsonObject{{"room", q.value(0).toInt()}, {"bookings", q.value(1).toInt()}, {"hours", q.value(2).toInt()}});
        return QHttpServerResponse(rows);
    });

    if (!server.listen(QHostAddress::LocalHost, args.at(1).toUShort()))
        qFatal("listen");
    return app.exec();
}
