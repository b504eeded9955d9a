extension Entity {
  /// The name with its indefinite article, `a Note` or `an Operator`. Chosen by the first letter, without U, which
  /// mostly sounds as in `a User`.
  public var nameWithArticle: String { ("AEIOaeio".contains(name.prefix(1)) ? "an " : "a ") + name }
}
