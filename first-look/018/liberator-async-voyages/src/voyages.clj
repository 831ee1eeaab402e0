(ns voyages
  "Voyage board: Liberator resources, bidi routes, core.async, ring's Jetty adapter."
  (:require [bidi.ring :refer [make-handler]]
            [clj-http.client :as http]
            [clj-http.conn-mgr :as conn-mgr]
            [clojure.core.async :as async :refer [go <! <!! put! promise-chan]]
            [clojure.data.json :as json]
            [clojure.string :as str]
            [liberator.core :refer [resource]]
            [ring.adapter.jetty :refer [run-jetty]])
  (:import (java.net URI)
           (java.net.http HttpClient HttpClient$Version HttpRequest HttpResponse$BodyHandlers)
           (java.time Duration)
           (java.util.function BiConsumer))
  (:gen-class))

(def ais-url (str "http://127.0.0.1:" (System/getenv "AIS_PORT")))
(def trace? (some? (System/getenv "TRACE")))

(defn note [& xs]
  (when trace? (binding [*out* *err*] (println (str/join " " xs)))))

(def ports
  ["antwerp" "bergen" "bilbao" "cork" "gdynia" "genoa" "hamburg" "lisbon" "malmo" "piraeus" "rotterdam" "split"])

(def voyages
  (into {} (for [i (range 200)]
             [(str i) {:voyage i :ship (str "MV Example " (mod (* i 7) 61))
                       :from (ports (mod i 12)) :to (ports (mod (+ 5 (* 3 i)) 12))}])))

;; ---- positions: answered by callback, nobody blocks
(def ^HttpClient ais
  (-> (HttpClient/newBuilder) (.version HttpClient$Version/HTTP_1_1) (.connectTimeout (Duration/ofSeconds 2)) .build))

(defn position [id]
  (let [out (promise-chan)
        req (-> (HttpRequest/newBuilder (URI/create (str ais-url "/position/" id))) (.timeout (Duration/ofSeconds 5)) .build)]
    (.whenComplete (.sendAsync ais req (HttpResponse$BodyHandlers/ofString))
                   (reify BiConsumer
                     (accept [_ resp err]
                       (put! out (if err {:error (str err)} (json/read-str (.body resp) :key-fn keyword))))))
    out))

(defn board-entry [id]
  (let [t0 (System/nanoTime)]
    (go
      (let [t1 (System/nanoTime)
            pos (<! (position id))
            t2 (System/nanoTime)]
        (note "show" (str "at=" (System/currentTimeMillis)) (str "start=" (/ (quot (- t1 t0) 10000) 100.0))
              (str "position=" (/ (quot (- t2 t1) 10000) 100.0)))
        (assoc (voyages id) :position pos)))))

;; ---- port calls: fetched again and again, a go block for each port
(def port-calls (atom (into {} (map (fn [p] [p []]) ports))))

(def manager (conn-mgr/make-reusable-conn-manager {:timeout 30 :threads 24 :default-per-route 24}))

(defn fetch-port-calls [port]
  (:body (http/get (str ais-url "/calls/" port)
                   {:connection-manager manager :socket-timeout 5000 :conn-timeout 2000})))

(defn refresh-port [port]
  (go
    (try
      (swap! port-calls assoc port (json/read-str (fetch-port-calls port)))
      (catch Exception e (note "refresh" port e)))))

(defn refresh-all []
  (let [t (System/currentTimeMillis)
        done (async/merge (mapv refresh-port ports))]
    (<!! (async/into [] done))
    (note "refresh" (str "at=" t) (str "took=" (- (System/currentTimeMillis) t)))))

;; ---- resources
(defn param [ctx k] (get-in ctx [:request :route-params k]))

(def voyage-resource
  (resource :available-media-types ["application/json"]
            :exists? (fn [ctx] (contains? voyages (param ctx :id)))
            :handle-ok (fn [ctx] (<!! (board-entry (param ctx :id))))))

(def port-resource
  (resource :available-media-types ["application/json"]
            :exists? (fn [ctx] (contains? @port-calls (param ctx :port)))
            :handle-ok (fn [ctx] {:port (param ctx :port) :calls (@port-calls (param ctx :port))})))

(def schedule-resource
  (resource :available-media-types ["application/json"]
            :handle-ok (fn [_] {:voyages (mapv #(select-keys % [:voyage :from :to]) (take 30 (vals voyages)))})))

(def health-resource
  (resource :available-media-types ["text/plain"] :handle-ok "ok"))

(def handler
  (make-handler ["/" {"health" health-resource
                      "schedule" schedule-resource
                      ["voyages/" :id] voyage-resource
                      ["ports/" :port] port-resource}]))

(defn warm-up [port]
  (dotimes [i 400]
    (doseq [path [(str "/voyages/" (mod i 200)) (str "/ports/" (ports (mod i 12))) "/schedule"]]
      (http/get (str "http://127.0.0.1:" port path) {:connection-manager manager}))))

(defn -main []
  (let [port (Integer/parseInt (System/getenv "PORT"))
        inner (run-jetty handler {:host "127.0.0.1" :port 0 :join? false :max-threads 50})]
    (warm-up (.getLocalPort (first (.getConnectors inner))))
    (.stop inner)
    (refresh-all)
    (doto (Thread. (fn [] (while true (Thread/sleep 500) (refresh-all))) "port-refresh")
      (.setDaemon true)
      .start)
    (run-jetty handler {:host "127.0.0.1" :port port :join? true :max-threads 50 :send-server-version? false})))
