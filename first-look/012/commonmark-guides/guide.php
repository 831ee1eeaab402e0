<?php
require 'League/CommonMark/autoload.php';
use League\CommonMark\Environment\Environment;
use League\CommonMark\Extension\CommonMark\CommonMarkCoreExtension;
use League\CommonMark\Extension\CommonMark\Node\Block\Heading;
use League\CommonMark\Extension\GithubFlavoredMarkdownExtension;
use League\CommonMark\Node\Inline\Text;
use League\CommonMark\Parser\MarkdownParser;

if ($_SERVER['DOCUMENT_URI'] === '/health') {
    echo 'ok';
    exit;
}
$name = basename($_SERVER['DOCUMENT_URI']);
$file = getenv('GUIDES') . "/$name.md";
if (!preg_match('/^[a-z-]+$/', $name) || !is_file($file)) {
    http_response_code(404);
    exit;
}
$environment = new Environment([]);
$environment->addExtension(new CommonMarkCoreExtension());
$environment->addExtension(new GithubFlavoredMarkdownExtension());
$document = (new MarkdownParser($environment))->parse(file_get_contents($file));
$headings = [];
$words = 0;
$walker = $document->walker();
while ($event = $walker->next()) {
    $node = $event->getNode();
    if ($event->isEntering() && $node instanceof Text) {
        $words += str_word_count($node->getLiteral());
        if ($node->parent() instanceof Heading && count($headings) < 8) {
            $headings[] = $node->getLiteral();
        }
    }
}
header('Content-Type: application/json');
echo json_encode(['guide' => $name, 'minutes' => ceil($words / 200), 'headings' => $headings]);
