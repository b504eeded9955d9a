import GraphModel
import GraphWire

/// The entry points for untrusted bytes. A target accepts any bytes and traps if a promise is broken; the fuzzer
/// searches for traps. The unit tests replay every kept input.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// A client's stream: frames and the messages in them.
  case toServer = "to-server"
  /// A server's stream.
  case toClient = "to-client"
  /// A predicate in its text form; also the same text as columns, groups and sort keys.
  case predicate
  /// A model file.
  case model
  /// A regular expression in the first line, and a text after it.
  case pattern

  public func run(_ bytes: [UInt8]) {
    switch self {
    case .toServer: Self.stream(bytes, ToServer.self)
    case .toClient: Self.stream(bytes, ToClient.self)
    case .predicate: Self.predicate(bytes)
    case .model: Self.model(bytes)
    case .pattern: Self.pattern(bytes)
    }
  }

  // MARK: - The wire

  /// Parses the bytes as a single message and as a stream of frames.
  private static func stream<Message: BinaryCodable>(_ bytes: [UInt8], _ type: Message.Type) {
    message(bytes[...], type)
    let whole = frames(bytes, piece: max(bytes.count, 1))
    precondition(frames(bytes, piece: 1 + Int(bytes.first ?? 0) % 7) == whole, "frames depend on how the bytes come")
    for frame in whole { message(frame[...], type) }
  }

  private static func frames(_ bytes: [UInt8], piece: Int) -> [[UInt8]] {
    var decoder = FrameDecoder(maximumFrameSize: 1 << 16)
    var found = [[UInt8]]()
    for start in stride(from: 0, to: bytes.count, by: piece) {
      decoder.append(bytes[start..<min(start + piece, bytes.count)])
      do {
        while let frame = try decoder.next() { found.append(Array(frame)) }
      } catch { return found }
    }
    return found
  }

  /// Checks that a decoded message is encoded in one form, which decodes to the same message.
  private static func message<Message: BinaryCodable>(_ bytes: ArraySlice<UInt8>, _ type: Message.Type) {
    guard let message = try? Message(binary: bytes) else { return }
    let written = message.binary
    guard let again = try? Message(binary: written) else { preconditionFailure("what was written can't be read") }
    precondition(again.binary == written, "what was written is read as something else")
  }

  // MARK: - Text

  private static func predicate(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self), let model = everyType,
      let entity = model.entity(named: "Thing")
    else { return }
    do {
      _ = try RowRequest(parsing: text, groups: text, order: text, entity: entity, model: model)
    } catch {
      precondition(error.cause.column >= 1, "an error points nowhere")
    }
    let predicate: GraphPredicate
    do {
      predicate = try GraphPredicate(parsing: text, entity: entity, model: model)
    } catch {
      precondition(error.column >= 1 && error.column <= text.unicodeScalars.count + 1, "an error points nowhere")
      return
    }
    if predicate.readsOnlyOwnImage(in: model) {
      let nothing = [Value](repeating: .null, count: entity.slotCount)
      let image = ObjectImage(id: .temporary(1, entity: entity.number), revision: 1, values: nothing)
      _ = PredicateEvaluator(predicate, model: model).matches(image)
    }
    // The canonical form includes conversions that the text omits; a short one cannot reach the nesting limit.
    guard bytes.count <= 60 else { return }
    let canonical = predicate.text(in: model)
    let again = try? GraphPredicate(parsing: canonical, entity: entity, model: model)
    precondition(again == predicate, "the canonical form of a predicate means something else")
  }

  /// Checks that a full match is also a partial match, and that parentheses around the pattern do not change it.
  private static func pattern(_ bytes: [UInt8]) {
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
    guard let pattern = String(validating: bytes[..<end], as: UTF8.self),
      let text = String(validating: bytes[end...].dropFirst().prefix(4_096), as: UTF8.self)
    else { return }
    for options in [[], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive]] as [StringOptions] {
      let expression: RegularExpression
      do {
        expression = try RegularExpression(parsing: pattern, options: options)
      } catch {
        precondition(error.column >= 1 && error.column <= pattern.unicodeScalars.count + 1, "an error points nowhere")
        return
      }
      let isWhole = expression.matchesWhole(text)
      precondition(!isWhole || expression.matchesAnywhere(text), "what is matched whole is matched nowhere")
      guard let bracketed = try? RegularExpression(parsing: "(" + pattern + ")", options: options) else { continue }
      precondition(bracketed.matchesWhole(text) == isWhole, "brackets change what a pattern means")
    }
  }

  private static func model(_ bytes: [UInt8]) {
    do {
      let model = try Model(parsing: bytes)
      let again = try? Model(parsing: model.source.utf8)
      precondition(again?.hash == model.hash, "a model's source is not the model")
    } catch {
      precondition(!error.mistakes.isEmpty, "a model is refused without a reason")
    }
  }

  /// A model with an attribute of every type and a relationship of every kind.
  static let everyType = try? Model(parsing: everyTypeSource.utf8)

  static let everyTypeSource = """
    {"format": 1, "name": "EveryType", "version": 1,
     "enumerations": [{"name": "Color", "cases": ["red", "green"]}],
     "entities": [
       {"name": "Thing",
        "attributes": [
          {"name": "bool", "type": "bool", "optional": true},
          {"name": "integer", "type": "integer", "optional": true, "indexed": true},
          {"name": "double", "type": "double", "optional": true},
          {"name": "decimal", "type": "decimal", "optional": true},
          {"name": "string", "type": "string", "optional": true, "fullText": true},
          {"name": "text", "type": "text", "optional": true, "fullText": true},
          {"name": "date", "type": "date", "optional": true},
          {"name": "uuid", "type": "uuid", "optional": true},
          {"name": "data", "type": "data", "optional": true},
          {"name": "uri", "type": "uri", "optional": true},
          {"name": "json", "type": "json", "optional": true},
          {"name": "color", "type": "enumeration", "enumeration": "Color", "optional": true}],
        "relationships": [
          {"name": "parent", "destination": "Thing", "inverse": "children"},
          {"name": "children", "destination": "Thing", "inverse": "parent", "toMany": true},
          {"name": "labels", "destination": "Label", "inverse": "things", "toMany": true}]},
       {"name": "Label", "attributes": [{"name": "name", "type": "string"}],
        "relationships": [{"name": "things", "destination": "Thing", "inverse": "labels", "toMany": true}]}]}
    """
}
