import os
import time

import graphene
from django.db import transaction
from django.db.models import F
from graphene_django import DjangoObjectType

from .models import Order, Product

TRACE = open(os.environ["ORDERS_TRACE"], "a", buffering=1) if os.environ.get("ORDERS_TRACE") else None


class ProductType(DjangoObjectType):
    class Meta:
        model = Product
        fields = ("id", "name", "price", "stock")


class OrderType(DjangoObjectType):
    class Meta:
        model = Order
        fields = ("id", "quantity", "total", "placed_at")


class PlaceOrder(graphene.Mutation):
    class Arguments:
        product = graphene.ID(required=True)
        quantity = graphene.Int(required=True)

    order = graphene.Field(OrderType)

    @staticmethod
    def mutate(root, info, product, quantity):
        start = time.perf_counter()
        with transaction.atomic():
            article = Product.objects.get(pk=product)
            Product.objects.filter(pk=product).update(stock=F("stock") - quantity)
            order = Order.objects.create(product=article, quantity=quantity, total=article.price * quantity)
            written = time.perf_counter()
        if TRACE:
            TRACE.write("%.3f work %.1f commit %.1f\n" % (
                time.time(), (written - start) * 1e3, (time.perf_counter() - written) * 1e3))
        return PlaceOrder(order=order)


class Query(graphene.ObjectType):
    product = graphene.Field(ProductType, id=graphene.ID(required=True))

    def resolve_product(root, info, id):
        return Product.objects.get(pk=id)


class Mutation(graphene.ObjectType):
    place_order = PlaceOrder.Field()


schema = graphene.Schema(query=Query, mutation=Mutation)

# the shop's pages send only the name of one of these documents
DOCUMENTS = {
    "Product": "query Product($id: ID!) { product(id: $id) { id name price stock } }",
    "PlaceOrder": "mutation PlaceOrder($id: ID!, $quantity: Int!) {"
                  " placeOrder(product: $id, quantity: $quantity) { order { id quantity total placedAt } } }",
}
