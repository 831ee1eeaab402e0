;; Room allotments of a tour operator: which rooms of which hotel can still be
;; sold. Compojure routes on ring's Jetty adapter (async handlers), core.async
;; for everything that belongs to one hotel, clj-http towards the bed banks.
(ns allotments
  (:require [clojure.core.async :as a :refer [go go-loop chan <! >! >!! promise-chan put!]]
            [clojure.string :as str]
            [compojure.core :refer [routes GET POST]]
            [compojure.route :as route]
            [ring.adapter.jetty :as jetty]
            [clj-http.client :as http]
            [clj-http.conn-mgr :as conn-mgr]
            [cheshire.core :as json])
  (:gen-class))

(defn env [k default] (or (System/getenv k) default))

(def timing-log (some-> (System/getenv "TIMING_LOG") (java.io.FileWriter. true)))
(defn note [& xs]
  (when timing-log
    (locking timing-log
      (.write timing-log (str (str/join " " xs) "\n"))
      (.flush timing-log))))
(defn ms-since [t0] (quot (- (System/nanoTime) t0) 1000000))

;; ---- hotels -----------------------------------------------------------

(def places ["Tropea" "Nerja" "Sitges" "Lagos" "Cefalu" "Vis" "Paros" "Kas"])
(def categories [:single :double :twin :family :suite])

(defn new-hotel [id]
  {:id id
   :name (str "Hotel " (nth places (mod id (count places))) " " id)
   :place (nth places (mod id (count places)))
   :nights (vec (for [day (range 28)]
                  (into {} (for [c categories] [c {:free (+ 2 (mod (* id (inc day)) 9))
                                                   :sold 0
                                                   :rate (+ 49 (mod (* 7 id (inc day)) 120))}]))))})

(defn offers [hotel]
  (for [[day night] (map-indexed vector (:nights hotel))
        [category {:keys [free rate]}] night
        :when (pos? free)]
    {:day day :category (name category) :free free :rate rate}))

(defn sell [hotel day category n]
  (if (>= (get-in hotel [:nights day category :free]) n)
    [(-> hotel
         (update-in [:nights day category :free] - n)
         (update-in [:nights day category :sold] + n))
     true]
    [hotel false]))

(defn hand-back [hotel]
  (update hotel :nights
          (fn [nights]
            (mapv (fn [night]
                    (into {} (for [[c v] night]
                               [c (if (pos? (:sold v)) (-> v (update :sold dec) (update :free inc)) v)])))
                  nights))))

;; One go-loop owns one hotel; requests come in over its channel.
(defn start-hotel! [id]
  (let [in (chan 64)]
    (go-loop [hotel (new-hotel id)]
      (let [[op reply & args] (<! in)]
        (case op
          :offers (do (>! reply {:hotel (:name hotel) :offers (offers hotel)})
                      (recur hotel))
          :sell (let [[day category n] args
                      [hotel ok] (sell hotel day category n)]
                  (>! reply {:hotel (:name hotel) :sold ok :day day})
                  (recur hotel))
          :free-sale (let [[factor] args]
                       (recur (hand-back (assoc hotel :factor factor))))
          (recur hotel))))
    in))

(def hotels (into (sorted-map) (for [id (range 1 61)] [(str id) (start-hotel! id)])))

(defn ask [id op & args]
  (let [reply (promise-chan)]
    (put! (get hotels id) (into [op reply] args))
    reply))

;; ---- bed banks --------------------------------------------------------

(def bed-banks ["bedsonline" "sunhotels" "hotelston" "darina" "restel"
                "welcomebeds" "jumbobeds" "smyrooms" "itravex"])
(def bank-url (str "http://127.0.0.1:" (env "BANKS_PORT" "9001")))
(def pool (conn-mgr/make-reusable-conn-manager {:threads 16 :default-per-route 16 :timeout 120}))

(defn fetch-free-sale [bank]
  (-> (http/get (str bank-url "/free-sale/" bank) {:connection-manager pool :socket-timeout 3000})
      :body
      (json/parse-string true)))

(defn sync-bank [bank]
  (go
    (let [t0 (System/nanoTime)
          {:keys [hotel factor]} (fetch-free-sale bank)]
      (note "sync" bank (.getName (Thread/currentThread)) (ms-since t0))
      (>! (get hotels (str hotel)) [:free-sale nil factor]))))

(defn start-sync! [every-ms]
  (let [timer (java.util.concurrent.Executors/newSingleThreadScheduledExecutor)]
    (.scheduleAtFixedRate timer
                          ^Runnable (fn [] (doseq [bank bed-banks] (sync-bank bank)))
                          every-ms every-ms java.util.concurrent.TimeUnit/MILLISECONDS)))

;; ---- HTTP -------------------------------------------------------------

(defn answer [status body]
  {:status status
   :headers {"content-type" "application/json"}
   :body (json/generate-string body)})

(defn get-offers [{{:keys [id]} :params} respond raise]
  (if-not (contains? hotels id)
    (respond (answer 404 {:error "no such hotel"}))
    (let [t0 (System/nanoTime)]
      (go
        (let [started (ms-since t0)
              result (<! (ask id :offers))]
          (note "offers" id "start" started "all" (ms-since t0))
          (respond (answer 200 result)))))))

(defn post-sale [{{:keys [id]} :params body :body} respond raise]
  (if-not (contains? hotels id)
    (respond (answer 404 {:error "no such hotel"}))
    (let [{:keys [day n]} (json/parse-stream (clojure.java.io/reader body) true)
          t0 (System/nanoTime)]
      (go
        (let [started (ms-since t0)
              result (<! (ask id :sell (mod (or day 0) 28) :double (or n 1)))]
          (note "sale" id "start" started "all" (ms-since t0))
          (respond (answer 200 result)))))))

(def hotel-list (delay (for [[id _] hotels
                             :let [h (new-hotel (Long/parseLong id))]]
                         (select-keys h [:id :name :place]))))
(def ready (promise))

(def app
  (routes
   (GET "/health" [] (fn [_ respond _] (respond (if (realized? ready) (answer 200 {:ok true}) (answer 503 {:ok false})))))
   (GET "/hotels" [] (fn [_ respond _] (respond (answer 200 @hotel-list))))
   (GET "/hotels/:id/offers" [] get-offers)
   (POST "/hotels/:id/sales" [] post-sale)
   (fn [_ respond _] (respond (answer 404 {:error "not found"})))))

;; The instance is in the load balancer only after it has run its own routes.
(defn warm-up! [port]
  (let [base (str "http://127.0.0.1:" port)
        opts {:connection-manager pool}]
    (dotimes [k 600]
      (http/get (str base "/hotels") opts)
      (http/get (str base "/hotels/" (inc (mod k 60)) "/offers") opts)
      (http/post (str base "/hotels/" (inc (mod k 60)) "/sales") (assoc opts :body "{\"day\":1,\"n\":0}")))
    (doseq [bank bed-banks] (fetch-free-sale bank))))

(defn wrap-params* [handler]
  (fn [request respond raise] (handler request respond raise)))

(defn -main []
  (let [port (Long/parseLong (env "PORT" "8080"))]
    (jetty/run-jetty (wrap-params* app)
                     {:port port :host "127.0.0.1" :join? false :async? true
                      :min-threads 8 :max-threads 50})
    (warm-up! port)
    (start-sync! (Long/parseLong (env "SYNC_EVERY_MS" "700")))
    (deliver ready true)))

