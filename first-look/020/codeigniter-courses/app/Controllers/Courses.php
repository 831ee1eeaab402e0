<?php

namespace App\Controllers;

use App\Models\CourseModel;

class Courses extends BaseController
{
    public function show($id)
    {
        $course = (new CourseModel())->find((int) $id);
        if ($course === null) {
            return $this->response->setStatusCode(404)->setJSON(['error' => 'no such course']);
        }

        return $this->response->setJSON($course);
    }

    public function health()
    {
        return $this->response->setBody('ok');
    }
}
