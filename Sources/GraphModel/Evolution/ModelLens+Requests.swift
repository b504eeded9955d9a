/// Translating requests of a client with the older version into the newer version.
extension ModelLens {
  // MARK: - Numbers

  /// The newer number of an entity; 0 stays 0.
  public func upgraded(entity number: EntityNumber) throws(Refusal) -> EntityNumber {
    var number = number
    for step in steps { number = try step.upgraded(entity: number) }
    return number
  }

  /// The newer numbers of several entities.
  public func upgraded(entities numbers: [EntityNumber]) throws(Refusal) -> [EntityNumber] {
    var result = [EntityNumber]()
    for number in numbers { result.append(try upgraded(entity: number)) }
    return result
  }

  /// The newer number of a property.
  public func upgraded(property number: PropertyNumber) throws(Refusal) -> PropertyNumber {
    var number = number
    for step in steps { number = try step.upgraded(number) }
    return number
  }

  /// The id with the newer number of its entity.
  public func upgraded(_ id: ObjectID) throws(Refusal) -> ObjectID {
    var id = id
    for step in steps { id = try step.upgraded(id) }
    return id
  }

  // MARK: - Changes

  /// A value that belongs to no particular property.
  public func upgraded(_ value: Value) throws(Refusal) -> Value {
    var value = value
    for step in steps { value = try step.upgraded(value) }
    return value
  }

  /// A value of the property with this number in the older version.
  public func upgraded(_ value: Value, of property: PropertyNumber) throws(Refusal) -> Value {
    var (value, property) = (value, property)
    for step in steps {
      value = try step.upgraded(value, of: property)
      property = try step.upgraded(property)
    }
    return value
  }

  /// Whether the newer version stores values of the older version's property in another form.
  public func isWidened(_ number: PropertyNumber) -> Bool {
    var number: PropertyNumber? = number
    for step in steps {
      guard let property = number else { return false }
      if case .truncated? = step.conversions[property] { return true }
      number = step.upgradedProperties[property]
    }
    return false
  }

  /// The translated transaction; it ignores concurrent changes of properties that its author can't see.
  public func upgraded(_ transaction: Transaction) throws(Refusal) -> Transaction {
    var transaction = transaction
    for step in steps { transaction = try step.upgraded(transaction) }
    transaction.unseen = unseen
    return transaction
  }

  // MARK: - Text

  private func oldEntity(_ number: EntityNumber) throws(Refusal) -> Entity {
    guard let entity = old.entity(number) else {
      throw Refusal(.malformed, "there is no entity number \(number) in the model \(old.name) \(old.version)")
    }
    return entity
  }

  /// The text of a predicate, parsed in the older version and printed in the newer.
  public func upgraded(predicate text: String, of number: EntityNumber) throws(Refusal) -> String {
    var work = TranslationWork()
    return try upgraded(predicate: text, of: number, &work)
  }

  /// As above, within the work of a whole request.
  package func upgraded(
    predicate text: String, of number: EntityNumber, _ work: inout TranslationWork
  ) throws(Refusal) -> String {
    if text.isEmpty { return "" }
    let entity = try oldEntity(number)
    work.begin(text)
    try check(work, "predicate")
    var predicate: GraphPredicate
    do {
      predicate = try GraphPredicate(parsing: text, entity: entity, model: old)
    } catch {
      throw Refusal(.malformed, "the predicate can't be read at \(error)")
    }
    for step in steps {
      work.step(growth: step.growth(of: predicate))
      try check(work, "predicate")
      predicate = try step.upgraded(predicate)
    }
    work.finish()
    let translated = predicate.text(in: new)
    let newer = try newEntity(number)
    do {
      _ = try GraphPredicate(parsing: translated, entity: newer, model: new)
    } catch {
      throw tooLarge("predicate", error.reason)
    }
    return translated
  }

  /// The text of an expression.
  public func upgraded(expression text: String, of number: EntityNumber) throws(Refusal) -> String {
    var work = TranslationWork()
    return try upgraded(expression: text, of: number, &work)
  }

  /// As above, within the work of a whole request.
  package func upgraded(
    expression text: String, of number: EntityNumber, _ work: inout TranslationWork
  ) throws(Refusal) -> String {
    let entity = try oldEntity(number)
    work.begin(text)
    try check(work, "expression")
    var expression: GraphExpression
    do {
      expression = try GraphExpression(parsing: text, entity: entity, model: old)
    } catch {
      throw Refusal(.malformed, "the expression can't be read at \(error)")
    }
    for step in steps {
      work.step(growth: step.growth(ofWhole: expression))
      try check(work, "expression")
      expression = try step.upgraded(expression)
    }
    work.finish()
    let translated = expression.text(in: new)
    let newer = try newEntity(number)
    do {
      _ = try GraphExpression(parsing: translated, entity: newer, model: new)
    } catch {
      throw tooLarge("expression", error.reason)
    }
    return translated
  }

  /// The text of sort keys.
  public func upgraded(sort text: String, of number: EntityNumber) throws(Refusal) -> String {
    var work = TranslationWork()
    return try upgraded(sort: text, of: number, &work)
  }

  /// As above, within the work of a whole request.
  package func upgraded(
    sort text: String, of number: EntityNumber, _ work: inout TranslationWork
  ) throws(Refusal) -> String {
    if text.isEmpty { return "" }
    let entity = try oldEntity(number)
    work.begin(text)
    try check(work, "order")
    var keys: [SortKey]
    do {
      keys = try [SortKey](parsing: text, entity: entity, model: old)
    } catch {
      throw Refusal(.malformed, "the order can't be read at \(error)")
    }
    for step in steps {
      let before = keys.mappedBytes
      keys = try step.upgraded(keys)
      // A key has one mapping of a step at most, which may replace an earlier one.
      work.step(growth: max(0, keys.mappedBytes - before))
      try check(work, "order")
    }
    work.finish()
    let translated = keys.text(in: new)
    let newer = try newEntity(number)
    do {
      _ = try [SortKey](parsing: translated, entity: newer, model: new)
    } catch {
      throw tooLarge("order", error.reason)
    }
    return translated
  }

  /// The texts of a row request; the columns keep their names of the older version.
  public func upgraded(
    rows properties: String, distinct: Bool, groups: String, order: String, of number: EntityNumber
  ) throws(Refusal) -> (properties: String, groups: String, order: String) {
    var work = TranslationWork()
    return try upgraded(rows: properties, distinct: distinct, groups: groups, order: order, of: number, &work)
  }

  /// As above, within the work of a whole request.
  package func upgraded(
    rows properties: String, distinct: Bool, groups: String, order: String, of number: EntityNumber,
    _ work: inout TranslationWork
  ) throws(Refusal) -> (properties: String, groups: String, order: String) {
    let entity = try oldEntity(number)
    // An order by objects is counted with its own steps, too.
    work.begin(properties + groups + order)
    try check(work, "properties")
    var rows: RowRequest
    do {
      rows = try RowRequest(
        parsing: properties, distinct: distinct, groups: groups, order: order, entity: entity, model: old)
    } catch {
      throw Refusal(.malformed, error.description)
    }
    for step in steps {
      work.step(growth: step.growth(of: rows))
      try check(work, "properties")
      rows = try step.upgraded(rows)
    }
    work.finish()
    let columns = rows.columns.map { column in
      column.value.text(in: new) + " AS " + GraphExpression.value(.string(column.name)).text(in: new)
    }
    let result = (
      properties: columns.joined(separator: ", "), groups: rows.groups.map { $0.text(in: new) }.joined(separator: ", "),
      order: rows.hasRowPerObject ? try upgraded(sort: order, of: number, &work) : order
    )
    let newer = try newEntity(number)
    do {
      _ = try RowRequest(
        parsing: result.properties, distinct: distinct, groups: result.groups, order: result.order, entity: newer,
        model: new)
    } catch {
      throw tooLarge(error.part.rawValue, error.cause.reason)
    }
    return result
  }

  // MARK: - Limits

  private func newEntity(_ number: EntityNumber) throws(Refusal) -> Entity {
    guard let entity = new.entity(try upgraded(entity: number)) else {
      throw Refusal(.malformed, "there is no entity number \(number) in the model \(old.name) \(old.version)")
    }
    return entity
  }

  private func check(_ work: TranslationWork, _ part: String) throws(Refusal) {
    if work.isTooMuch { throw tooLarge(part, "more than \(TranslationWork.maximum) steps of work") }
  }

  private func tooLarge(_ part: String, _ reason: String) -> Refusal {
    Refusal(
      .limit,
      "the \(part) exceeds a limit after the translation from version \(old.version) of the model to version "
        + "\(new.version): \(reason); send a shorter one, or update this program")
  }
}

extension [SortKey] {
  /// The bytes of all mappings.
  fileprivate var mappedBytes: Int {
    var bytes = 0
    for key in self {
      for fallback in key.fallbacks {
        for name in fallback.names { bytes += name.utf8.count + 1 }
      }
    }
    return bytes
  }
}
