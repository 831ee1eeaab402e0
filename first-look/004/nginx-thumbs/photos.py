# photos.py DIR: pictures as a camera and as a phone messenger would deliver them
import os, sys
from PIL import Image, ImageFilter
def photo(path, w, h, seed):
    bands = [Image.effect_noise((w // 4, h // 4), 40 + 10 * ((seed + i) % 3)).resize((w, h)) for i in range(3)]
    Image.merge("RGB", bands).filter(ImageFilter.GaussianBlur(2)).save(path, quality=88)
for i in range(6):
    os.makedirs(f"{sys.argv[1]}/camera", exist_ok=True); os.makedirs(f"{sys.argv[1]}/phone", exist_ok=True)
    photo(f"{sys.argv[1]}/camera/{i}.jpg", 3000, 2000, i)
    photo(f"{sys.argv[1]}/phone/{i}.jpg", 640, 480, i)
