import GraphModel

extension Principal: ExpressibleByStringLiteral {
  /// A principal without an account, for requests of tests.
  public init(stringLiteral name: String) { self.init(author: name) }
}
