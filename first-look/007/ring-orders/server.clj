(ns server
  (:gen-class)
  (:require [ring.adapter.jetty :refer [run-jetty]]
            [compojure.core :refer [GET routes]]
            [clojure.core.async :refer [go <!!]]
            [hiccup.core :refer [html]])
  (:import [java.sql DriverManager]
           [java.util.concurrent ConcurrentLinkedQueue]))

(def db-url (System/getenv "DB_URL"))
(def idle (ConcurrentLinkedQueue.))

(defn query [sql n]
  (let [c (or (.poll idle) (DriverManager/getConnection db-url))]
    (try
      (with-open [st (.prepareStatement c sql)]
        (.setInt st 1 n)
        (with-open [rs (.executeQuery st)]
          (.next rs)
          (.getString rs 1)))
      (finally (.add idle c)))))

(defn order [n] (query "select 'order ' || ?::int || ': shipped'" n))
(defn turnover [y] (query "select sum(amount)::text from turnover(?)" y))

(def catalogue
  (vec (for [i (range 400)]
         {:id i :name (str "article " i) :price (+ 1.5 (* 0.25 i)) :tags (map #(str "t" (mod (* i %) 11)) (range 5))})))

(defn page [category]
  (let [rows (filter #(= (mod (:id %) 4) (mod category 4)) catalogue)]
    (html [:html [:body [:h1 "Category " category]
                  [:table (for [r (sort-by :price > rows)]
                            [:tr [:td (:id r)] [:td (:name r)] [:td (format "%.2f" (:price r))]
                             [:td (interpose ", " (:tags r))]])]]])))

(defn text [s] {:status 200 :headers {"Content-Type" "text/plain"} :body s})

(def app
  (routes
    (GET "/orders/:n" [n]
      (let [n (Long/parseLong n)] (text (<!! (go (order n))))))
    (GET "/turnover/:year" [year]
      (let [y (Long/parseLong year)] (text (<!! (go (turnover y))))))
    (GET "/category/:n" [n]
      {:status 200 :headers {"Content-Type" "text/html"} :body (page (Long/parseLong n))})
    (GET "/health" [] (text "ok"))))

(defn -main [& _]
  (run-jetty app {:host "127.0.0.1" :port (Long/parseLong (System/getenv "PORT")) :max-threads 50}))
