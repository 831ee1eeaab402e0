<?php
require '/usr/share/php/Twig/autoload.php';
$loader = new \Twig\Loader\FilesystemLoader(__DIR__ . '/templates');
$twig = new \Twig\Environment($loader, ['cache' => getenv('TWIG_CACHE') ?: false, 'auto_reload' => false]);
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path === '/health') { header('Content-Type: text/plain'); echo 'ok'; exit; }
$pages = $path === '/brochure' ? 12 : 3;
$articles = [];
for ($i = 0; $i < 40 * $pages; $i++) {
    $articles[] = ['name' => 'article number ' . $i, 'price' => 3.5 + $i * 1.7, 'tags' => ['new', 'wood', 'garden'], 'since' => 1700000000 + $i * 86400];
}
echo $twig->render('page.html.twig', ['title' => trim($path, '/'), 'articles' => $articles]);
