/// The product's is generated from its model; the readers need no more of it than this.
public enum Color: String, CaseIterable, Sendable {
  case yellow, blue, green, pink, purple, gray, orange, red, teal, brown, white
}
