/// The names that a model file may use, for tools that write model files.
package enum ModelNames {
  /// Whether the text is a letter, followed by letters, digits or underscores, with at most 64 bytes.
  package static func isName(_ text: String) -> Bool { JSONObjectReader.isName(text) }

  /// Whether no property may have the name: every object has it already, or predicates could not name it.
  package static func isReservedForProperties(_ name: String) -> Bool {
    ModelLinker.reservedNames.contains(name.lowercased()) || ModelLinker.reservedWords.contains(name.lowercased())
  }

  /// Whether no entity may have the name, because the database reserves it.
  package static func isReservedForEntities(_ name: String) -> Bool { name.lowercased().hasPrefix("sqlite_") }
}
