import GraphModel

extension ToClient: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, request)
    switch body {
    case .welcome(let welcome): writer.field(2, welcome)
    case .refused(let refusal): writer.field(3, refusal)
    case .model(let source, let hash):
      writer.message(4) {
        $0.field(1, source)
        $0.field(2, hash.bytes)
      }
    case .chunk(let chunk): writer.field(5, chunk)
    case .committed(let committed, let objects, let isComplete):
      writer.message(6) {
        $0.field(1, committed)
        for object in objects { $0.field(2, object) }
        $0.field(3, isComplete)
      }
    case .subscribed(let query, let resumed, let known):
      writer.message(7) {
        $0.field(1, query)
        $0.field(2, resumed)
        $0.field(3, known)
      }
    case .unsubscribed(let query): writer.message(8) { $0.field(1, query) }
    case .delta(let delta): writer.field(9, delta)
    case .advance(let revision, let fingerprint):
      writer.message(10) {
        $0.field(1, revision)
        $0.fixed(2, fingerprint)
      }
    case .reset(let query, let reason):
      writer.message(11) {
        $0.field(1, query)
        $0.field(2, reason)
      }
    case .log(let commits, let last):
      writer.message(12) {
        for commit in commits { $0.field(1, commit) }
        $0.field(2, last)
      }
    case .status(let status): writer.field(13, status)
    case .pong(let token): writer.message(14) { $0.field(1, token) }
    case .close(let code, let message):
      writer.message(15) {
        $0.field(1, code)
        $0.field(2, message)
      }
    case .presence(let session, let author, let state, let left):
      writer.message(16) {
        $0.field(1, session)
        $0.field(2, author)
        $0.field(3, state)
        $0.field(4, left)
      }
    case .undoState(let state): writer.field(17, state)
    case .progress(let progress): writer.field(18, progress)
    case .revisionAt(let revision): writer.field(19, revision)
    case .why(let origin): writer.field(20, origin)
    case .followed(let commits, let at, let head):
      writer.message(21) {
        for commit in commits { $0.field(1, commit) }
        $0.field(2, at)
        $0.field(3, head)
      }
    case .differences(let differences, let last):
      writer.message(22) {
        for difference in differences { $0.field(1, difference) }
        $0.field(2, last)
      }
    case .exportHead(let head): writer.field(24, head)
    case .windowMoved(let moved): writer.field(25, moved)
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var request: UInt64 = 0
    var body: Body?
    while let (number, field) = try reader.next() {
      switch number {
      case 1: request = try field.unsigned()
      case 2: body = .welcome(try field.form())
      case 3: body = .refused(try field.form())
      case 4:
        var (source, hash): (String, ModelHash?) = ("", nil)
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { source = try field.string() }
          if number == 2 { hash = ModelHash(bytes: try field.array()) }
        }
        guard let hash else { throw MalformedMessage("a model has no hash") }
        body = .model(source: source, hash: hash)
      case 5: body = .chunk(try field.form())
      case 6:
        var (committed, objects, isComplete): (CommitResult?, [ObjectImage], Bool) = (nil, [], false)
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { committed = try field.form() }
          if number == 2 { objects.append(try field.form()) }
          if number == 3 { isComplete = try field.bool() }
        }
        guard let committed else { throw MalformedMessage("a commit's reply is empty") }
        body = .committed(committed, objects: objects, isComplete: isComplete)
      case 7:
        var (query, resumed, known): (UInt64, Bool, Bool) = (0, false, false)
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { query = try field.unsigned() }
          if number == 2 { resumed = try field.bool() }
          if number == 3 { known = try field.bool() }
        }
        body = .subscribed(query: query, resumed: resumed, known: known)
      case 8: body = .unsubscribed(query: try field.first())
      case 9: body = .delta(try field.form())
      case 10:
        var (revision, fingerprint): (Revision, UInt64) = (0, 0)
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { revision = try field.integer() }
          if number == 2 { fingerprint = try field.fixed64() }
        }
        body = .advance(revision: revision, fingerprint: fingerprint)
      case 11:
        var (query, reason): (UInt64, String) = (0, "")
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { query = try field.unsigned() }
          if number == 2 { reason = try field.string() }
        }
        body = .reset(query: query, reason: reason)
      case 12:
        var (commits, last): ([CommitEntry], Bool) = ([], false)
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { commits.append(try field.form()) }
          if number == 2 { last = try field.bool() }
        }
        body = .log(commits, last: last)
      case 13: body = .status(try field.form())
      case 14:
        var token: Token?
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { token = try field.form() }
        }
        guard let token else { throw MalformedMessage("a pong has no token") }
        body = .pong(token)
      case 15:
        let (code, message) = try field.closing()
        body = .close(code: code, message: message)
      case 16:
        var (session, author, state, left): (UInt64, String, [UInt8], Bool) = (0, "", [], false)
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          switch number {
          case 1: session = try field.unsigned()
          case 2: author = try field.string()
          case 3: state = try field.array()
          case 4: left = try field.bool()
          default: break
          }
        }
        body = .presence(session: session, author: author, state: state, left: left)
      case 17: body = .undoState(try field.form())
      case 18: body = .progress(try field.form())
      case 19: body = .revisionAt(try field.form())
      case 20: body = .why(try field.form())
      case 21: body = try Self.followed(field)
      case 22: body = try Self.differences(field)
      case 24: body = .exportHead(try field.form())
      case 25: body = .windowMoved(try field.form())
      default: break
      }
    }
    guard let body else { throw MalformedMessage("the message has no body that this version knows") }
    self.init(request, body)
  }
}

extension Welcome: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(protocolVersion))
    writer.field(2, model.bytes)
    writer.field(3, head)
    writer.field(4, session)
    writer.field(5, server)
    writer.field(6, resumed)
    for entity in entities {
      writer.message(7) { writer in
        writer.field(1, UInt64(entity.number))
        writer.field(2, entity.name)
        for property in entity.properties {
          writer.message(3) {
            $0.field(1, UInt64(property.number))
            $0.field(2, property.name)
            $0.field(3, property.type)
            $0.field(4, property.isStored)
          }
        }
      }
    }
    writer.field(8, maximumFrameSize)
    writer.field(9, heartbeatMilliseconds)
    writer.field(10, knowsUndoSteps)
    writer.field(11, knowsBatches)
    writer.field(30, knowsWindows)
    writer.field(31, knowsPreconditions)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var hash: ModelHash?
    protocolVersion = 0
    head = Token(store: .zero, revision: 0, fingerprint: 0)
    (session, server, resumed, entities, maximumFrameSize, heartbeatMilliseconds) = (0, "", false, [], 0, 0)
    (knowsUndoSteps, knowsBatches, knowsWindows, knowsPreconditions) = (false, false, false, false)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: protocolVersion = try field.uint32()
      case 2: hash = ModelHash(bytes: try field.array())
      case 3: head = try field.form()
      case 4: session = try field.unsigned()
      case 5: server = try field.string()
      case 6: resumed = try field.bool()
      case 7: entities.append(try Self.entity(field))
      case 8: maximumFrameSize = try field.unsigned()
      case 9: heartbeatMilliseconds = try field.unsigned()
      case 10: knowsUndoSteps = try field.bool()
      case 11: knowsBatches = try field.bool()
      case 30: knowsWindows = try field.bool()
      case 31: knowsPreconditions = try field.bool()
      default: break
      }
    }
    guard let hash else { throw MalformedMessage("a welcome has no model hash") }
    model = hash
  }

  private static func entity(_ field: BinaryReader.Field) throws(MalformedMessage) -> EntityEntry {
    var entry = EntityEntry(number: 0, name: "", properties: [])
    var reader = try field.reader()
    while let (number, field) = try reader.next() {
      switch number {
      case 1: entry.number = try field.uint32()
      case 2: entry.name = try field.string()
      case 3:
        var property = PropertyEntry(number: 0, name: "", type: "", isStored: false)
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          switch number {
          case 1: property.number = try field.uint32()
          case 2: property.name = try field.string()
          case 3: property.type = try field.string()
          case 4: property.isStored = try field.bool()
          default: break
          }
        }
        entry.properties.append(property)
      default: break
      }
    }
    return entry
  }
}

extension Delta: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, query)
    writer.field(2, revision)
    writer.field(3, time)
    writer.field(4, author)
    writer.fixed(5, fingerprint)
    for change in changes { writer.field(6, change) }
    writer.count(30, total)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init()
    while let (number, field) = try reader.next() {
      switch number {
      case 1: query = try field.unsigned()
      case 2: revision = try field.integer()
      case 3: time = try field.integer()
      case 4: author = try field.string()
      case 5: fingerprint = try field.fixed64()
      case 6: changes.append(try field.form())
      case 30: total = try field.first()
      default: break
      }
    }
  }
}

extension Delta.Change: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(kind.rawValue))
    if let object { writer.field(2, object) } else { writer.field(3, id) }
    writer.field(4, previous)
    for edit in edits { writer.field(5, edit) }
    writer.field(6, deleted)
    writer.count(30, place)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(kind: .inserted, id: .temporary(0, entity: 0))
    while let (number, field) = try reader.next() {
      switch number {
      case 1: kind = try field.choice()
      case 2:
        let image: ObjectImage = try field.form()
        object = image
        id = image.id
      case 3: id = try field.form()
      case 4: previous = try field.integer()
      case 5: edits.append(try field.form())
      case 6: deleted = try field.bool()
      case 30: place = try field.first()
      default: break
      }
    }
  }
}

extension CommitEntry: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, revision)
    writer.field(2, time)
    writer.field(3, author)
    writer.field(4, transaction)
    writer.field(5, undoes ?? 0)
    for change in changes { writer.field(6, change) }
    writer.fixed(7, fingerprint)
    writer.field(8, redoes ?? 0)
    if let undo { writer.field(9, undo) }
    writer.field(10, unlisted)
    writer.field(11, more)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init()
    while let (number, field) = try reader.next() {
      switch number {
      case 1: revision = try field.integer()
      case 2: time = try field.integer()
      case 3: author = try field.string()
      case 4: transaction = try field.form()
      case 5:
        let revision = try field.integer()
        undoes = revision == 0 ? nil : revision
      case 6: changes.append(try field.form())
      case 7: fingerprint = try field.fixed64()
      case 8:
        let revision = try field.integer()
        redoes = revision == 0 ? nil : revision
      case 9: undo = try field.form()
      case 10: unlisted = try field.unsigned()
      case 11: more = try field.unsigned()
      default: break
      }
    }
  }
}

extension ServerStatus: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, server)
    writer.field(2, location)
    writer.field(3, size)
    writer.field(4, head)
    writer.field(5, sessions)
    writer.field(6, registrations)
    for counter in counters {
      writer.message(7) {
        $0.field(1, UInt64(counter.property))
        $0.field(2, counter.next)
      }
    }
    writer.field(8, process)
    writer.field(40, oldest)
    writer.field(41, failure)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init()
    while let (number, field) = try reader.next() {
      switch number {
      case 1: server = try field.string()
      case 2: location = try field.string()
      case 3: size = try field.unsigned()
      case 4: head = try field.form()
      case 5: sessions = try field.unsigned()
      case 6: registrations = try field.unsigned()
      case 7:
        var counter = Counter(property: 0, next: 0)
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { counter.property = try field.uint32() }
          if number == 2 { counter.next = try field.integer() }
        }
        counters.append(counter)
      case 8: process = try field.unsigned()
      case 40: oldest = try field.integer()
      case 41: failure = try field.string()
      default: break
      }
    }
  }
}
