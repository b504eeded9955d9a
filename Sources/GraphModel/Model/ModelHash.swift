/// The hash over all that two programs must have in common to exchange objects. This includes names, types,
/// optionality, relationships, uniqueness, full text, derivations and the cases of enumerations. Documentation,
/// defaults, validation and transients may differ.
public struct ModelHash: Hashable, Sendable, CustomStringConvertible {
  /// The sixteen bytes.
  public let bytes: [UInt8]

  /// Creates a hash from sixteen bytes; nil for any other count.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  init(of entities: [Entity], enumerations: [Enumeration]) {
    var text = ""
    func add(_ parts: String...) { text += parts.joined(separator: "\u{1F}") + "\n" }
    for enumeration in enumerations.sorted(by: { UTF8Comparison.order($0.name, $1.name) == .ascending }) {
      add("enumeration", enumeration.name, enumeration.cases.joined(separator: ","))
    }
    for entity in entities {
      add("entity", entity.name, "\(entity.parent ?? 0)", entity.isAbstract ? "abstract" : "concrete")
      for property in entity.allProperties.sorted(by: { $0.number < $1.number }) where property.owner == entity.number {
        switch property.kind {
        case .attribute(let attribute) where attribute.isTransient: continue
        case .attribute(let attribute):
          add(
            "attribute", property.name, attribute.kind.rawValue, property.isOptional ? "optional" : "required",
            attribute.enumeration ?? "", attribute.assignment?.rawValue ?? "",
            attribute.isFullText ? "fullText" : "")
          if let derivation = attribute.derivation {
            let kind = derivation.isScope ? "scope" : derivation.counted == nil ? "expression" : "count"
            add("derived", kind, derivation.text)
          }
        case .relationship(let relationship):
          add(
            "relationship", property.name, "\(relationship.destination)", "\(relationship.inverse)",
            relationship.isToMany ? "many" : "one", property.isOptional ? "optional" : "required",
            relationship.storage == .members ? "members" : "")
          // Added only if ordered, so that the hashes of other models stay the same.
          if relationship.isOrdered { add("ordered") }
        }
      }
      for constraint in entity.uniquenessConstraints {
        add("unique", constraint.map(String.init).joined(separator: ","))
      }
    }
    // FNV-1a with 128 bits: it distinguishes models, but does not protect against forgery.
    var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
    for byte in text.utf8 {
      hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013B
    }
    bytes = UniqueID(high: UInt64(hash >> 64), low: UInt64(truncatingIfNeeded: hash)).bytes
  }

  /// 32 hexadecimal digits.
  public var description: String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
