import GraphModel

/// The only source of randomness of a simulation (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 ^ 0xD1B5_4A32_D192_ED03 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return state.mixed
  }

  /// A random number below `bound`.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// A random element of a nonempty array.
  mutating func element<Element>(of elements: [Element]) -> Element {
    precondition(!elements.isEmpty, "an element of an empty array")
    return elements[below(elements.count)]
  }

  /// A random element; nil for an empty array, for which no random number is drawn.
  mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[below(elements.count)]
  }
}
