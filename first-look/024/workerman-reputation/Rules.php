<?php
/** Sites and their rules. */
class Rules
{
    private PDO $db;

    public function __construct(string $file)
    {
        $this->db = new PDO("sqlite:$file", null, null, [
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
        ]);
        $this->db->exec('PRAGMA query_only = 1');
    }

    public function count(): int
    {
        return (int) $this->db->query('SELECT count(*) FROM sites')->fetchColumn();
    }

    public function site(int $id): ?array
    {
        $query = $this->db->prepare('SELECT id, host, plan FROM sites WHERE id = ?');
        $query->execute([$id]);
        $site = $query->fetch();
        if (!$site) {
            return null;
        }
        $query = $this->db->prepare('SELECT id, pattern, action, score FROM rules WHERE site = ? ORDER BY score DESC');
        $query->execute([$id]);
        return $site + ['rules' => $query->fetchAll()];
    }

    public function blocking(int $score): array
    {
        $query = $this->db->prepare("SELECT id, site FROM rules WHERE action = 'block' AND score = ? ORDER BY id LIMIT 20");
        $query->execute([$score]);
        return $query->fetchAll();
    }
}
