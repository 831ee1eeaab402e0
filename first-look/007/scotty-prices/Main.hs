{-# LANGUAGE OverloadedStrings #-}
module Main (main) where

import           Control.Concurrent      (forkIO, threadDelay)
import           Control.Exception       (evaluate)
import           Control.Monad           (forever, void, when)
import           Control.Monad.IO.Class  (liftIO)
import           Data.Aeson              (object, (.=))
import           Data.IORef
import qualified Data.Map.Strict         as M
import qualified Data.Text               as T
import qualified Network.Wai.Handler.Warp as Warp
import           System.Mem              (performGC)
import           System.Environment      (getEnv, lookupEnv)
import           Web.Scotty

-- one price: the numbers of a product in the shop
data Price = Price { sku :: !T.Text, cents :: !Int, seen :: !Int }

load :: Int -> M.Map Int Price
load n = M.fromDistinctAscList
  [ (i, Price (T.pack ("sku-" ++ show i)) (100 + i * 7919 `mod` 90000) 0) | i <- [1 .. n] ]

main :: IO ()
main = do
  port  <- read <$> getEnv "PORT"
  n     <- maybe 1000 read <$> lookupEnv "PRODUCTS"
  let m = load n
  _ <- evaluate (M.foldl' (\a p -> a + cents p) 0 m)
  catalogue <- newIORef m
  every     <- maybe 0 read <$> lookupEnv "REFRESH_MS"
  stock     <- newIORef M.empty
  -- what is in the shelves is read again and again; the old table is given back at once
  when (every > 0) $ void $ forkIO $ forever $ do
    threadDelay (every * 1000)
    next' <- evaluate (load 2000)
    atomicWriteIORef stock next'
    performGC
  opts <- pure (Options 0 (Warp.setPort port (Warp.setHost "127.0.0.1" Warp.defaultSettings)))
  scottyOpts opts $ do
    get "/health" $ text "ok"
    -- the price of a product; remembers how often it was asked for
    get "/price/:id" $ do
      i <- param "id"
      p <- liftIO $ atomicModifyIORef' catalogue $ \c ->
             case M.lookup i c of
               Nothing -> (c, Nothing)
               Just q  -> let q' = q { seen = seen q + 1 } in (M.insert i q' c, Just q')
      case p of
        Nothing -> next
        Just q  -> json (object [ "sku" .= sku q, "cents" .= cents q, "seen" .= seen q ])
    -- a page of prices around a product, sorted by price
    get "/around/:id" $ do
      i <- param "id"
      c <- liftIO (readIORef catalogue)
      let near   = [ p | k <- [i - 500 .. i + 500], Just p <- [M.lookup k c] ]
          sorted = M.elems (M.fromList [ ((cents p, sku p), p) | p <- near ])
      json [ object [ "sku" .= sku p, "cents" .= cents p ] | p <- sorted ]
