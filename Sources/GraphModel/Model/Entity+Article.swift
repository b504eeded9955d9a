extension Entity {
  /// The name as a sentence says it of one object: `a Note`, `an Operator`. By the first letter; U is mostly spoken as
  /// in `a User`.
  public var nameWithArticle: String { ("AEIOaeio".contains(name.prefix(1)) ? "an " : "a ") + name }
}
