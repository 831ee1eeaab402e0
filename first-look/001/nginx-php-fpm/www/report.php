<?php
usleep(150000);                          // the figures come from elsewhere
echo json_encode(['total' => 4711]);
