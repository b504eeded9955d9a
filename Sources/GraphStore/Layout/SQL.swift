/// The text of a statement that is made once and used often: a connection finds what it has prepared by the object, not
/// by hashing some hundred bytes of text.
final class SQL: Sendable {
  let text: String

  init(_ text: String) { self.text = text }
}
