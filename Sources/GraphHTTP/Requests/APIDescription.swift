import GraphModel

/// The OpenAPI 3.1 description of the interface to a model.
struct APIDescription {
  let model: Model

  var json: JSON { .object([.init("openapi", .string("3.1.0"))]) }
}
