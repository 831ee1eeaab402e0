;;; directory of a town's clubs: Hunchentoot on SBCL
(require :asdf)
(require :sb-posix)
(asdf:load-system :hunchentoot)
(defpackage :clubs (:use :cl :hunchentoot))
(in-package :clubs)

(defvar *nodelay* (equal (sb-posix:getenv "NODELAY") "yes"))
(defvar *clubs*
  (coerce (loop for n below 6000 collect (list n (format nil "club ~d" n) (mod (* n 7) 97))) 'vector))

(defclass directory-acceptor (easy-acceptor) ())
(defmethod process-connection :before ((acceptor directory-acceptor) socket)
  (when *nodelay*
    (setf (sb-bsd-sockets:sockopt-tcp-nodelay (usocket:socket socket)) t)))

(defun page (from count)
  (setf (content-type*) "text/plain")
  (with-output-to-string (s)
    (loop for i from from below (+ from count)
          for (n name members) = (svref *clubs* (mod i 6000))
          do (format s "~d ~a, street ~d: ~d members~%" n name (mod (* n 3) 200) members))))

(define-easy-handler (health :uri "/health") () "ok")
(define-easy-handler (club :uri "/club") ((n :parameter-type 'integer))
  (page n 1))
(define-easy-handler (district :uri "/district") ((n :parameter-type 'integer))
  (page (* n 31) 450))

(start (make-instance 'directory-acceptor :address "127.0.0.1" :port (parse-integer (sb-posix:getenv "PORT"))
                      :access-log-destination nil :message-log-destination nil))
(loop (sleep 3600))
