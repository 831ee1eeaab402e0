import os

from py4web.core import wsgi

application = wsgi(apps_folder=os.environ["APPS"], yes=True,
                   dashboard_mode="none", watch="off", app_names="")
