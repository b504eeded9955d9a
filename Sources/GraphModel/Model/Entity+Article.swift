extension Entity {
  /// The name with its indefinite article, `a Note` or `an Operator`.
  public var nameWithArticle: String { name.withArticle }
}

extension String {
  /// The name of an entity with its indefinite article. The first letter decides; U counts as a consonant, because it
  /// usually sounds as in `a User`.
  package var withArticle: String { ("AEIOaeio".contains(prefix(1)) ? "an " : "a ") + self }
}
