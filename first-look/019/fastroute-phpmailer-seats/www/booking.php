<?php
declare(strict_types=1);

use PHPMailer\PHPMailer\PHPMailer;

const TABLE_SEATS = 6;

function store(): Redis
{
    static $redis = null;
    if ($redis === null) {
        $redis = new Redis();
        $redis->pconnect('127.0.0.1', (int) getenv('REDIS_PORT'));
    }
    return $redis;
}

function health(array $args): array
{
    return [200, ['ok' => true]];
}

function showWorkshop(array $args): array
{
    $n = (int) store()->lLen("workshop:{$args['id']}:seats");
    return [200, [
        'workshop' => (int) $args['id'],
        'booked' => $n,
        'free_at_table' => TABLE_SEATS - $n % TABLE_SEATS,
        'last' => store()->lRange("workshop:{$args['id']}:seats", -TABLE_SEATS, -1),
    ]];
}

function bookSeat(array $args): array
{
    $in = json_decode((string) file_get_contents('php://input'), true);
    if (!isset($in['guest'])) {
        return [422, ['error' => 'guest is missing']];
    }
    $key = "workshop:{$args['id']}:seats";
    $n = store()->rPush($key, "guest-{$in['guest']}");
    $full = $n % TABLE_SEATS === 0;
    if ($full) {
        $guests = store()->lRange($key, $n - TABLE_SEATS, $n - 1);
        $t = hrtime(true);
        announceTable((int) $args['id'], intdiv($n, TABLE_SEATS), $guests);
        if ($log = getenv('TIMING_LOG')) {
            file_put_contents($log, sprintf("%.3f mail %.2f ms\n", microtime(true), (hrtime(true) - $t) / 1e6), FILE_APPEND);
        }
    }
    return [201, ['workshop' => (int) $args['id'], 'seat' => $n, 'table_full' => $full]];
}

/** Mails the list of one full table to the instructor by the local relay. */
function announceTable(int $workshop, int $table, array $guests): void
{
    require_once '/usr/share/php/libphp-phpmailer/autoload.php';
    $mail = new PHPMailer(true);
    $mail->isSMTP();
    $mail->Host = '127.0.0.1';
    $mail->Port = (int) getenv('SMTP_PORT');
    $mail->SMTPAutoTLS = false;
    $mail->Timeout = 10;
    $mail->Hostname = 'workshops.example.org';
    if (getenv('SMTP_NODELAY') === '1') {
        $mail->SMTPOptions = ['socket' => ['tcp_nodelay' => true]];
    }
    $mail->setFrom('bookings@workshops.example.org', 'Workshop bookings');
    $mail->addAddress("instructor-$workshop@workshops.example.org");
    $mail->Subject = "Table $table of workshop $workshop is full";
    $lines = ["Hello,", "", "table $table of your workshop is full. These guests are coming:", ""];
    foreach ($guests as $i => $guest) {
        $lines[] = sprintf('  %d. %s', $i + 1, $guest);
    }
    array_push($lines, "", "Please have the materials ready fifteen minutes before the start.", "", "The bookings team");
    $mail->Body = implode("\r\n", $lines);
    $mail->send();
}
