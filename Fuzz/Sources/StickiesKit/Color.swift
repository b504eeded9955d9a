/// The product's type is generated from its model; the readers need only its cases.
public enum Color: String, CaseIterable, Sendable {
  case yellow, blue, green, pink, purple, gray, orange, red, teal, brown, white
}
