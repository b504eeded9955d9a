// The HTTP interface of a served graph.
import GraphServer
import Hummingbird

enum GraphHTTP {}
