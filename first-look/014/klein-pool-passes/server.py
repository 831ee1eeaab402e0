"""Start of the server. It is small: each new worker process imports it again."""
if __name__ == "__main__":
    import app
    app.main()
