/// Translating requests of a client with the older version into the newer version.
extension ModelLens {
  // MARK: - Numbers

  /// The newer number of an entity; 0 stays 0.
  public func later(entity number: EntityNumber) throws(Refusal) -> EntityNumber {
    var number = number
    for step in steps { number = try step.later(entity: number) }
    return number
  }

  /// The newer numbers of several entities.
  public func later(entities numbers: [EntityNumber]) throws(Refusal) -> [EntityNumber] {
    var result = [EntityNumber]()
    for number in numbers { result.append(try later(entity: number)) }
    return result
  }

  /// The newer number of a property.
  public func later(property number: PropertyNumber) throws(Refusal) -> PropertyNumber {
    var number = number
    for step in steps { number = try step.later(number) }
    return number
  }

  /// The id with the newer number of its entity.
  public func later(_ id: ObjectID) throws(Refusal) -> ObjectID {
    var id = id
    for step in steps { id = try step.later(id) }
    return id
  }

  // MARK: - Changes

  /// A value that belongs to no particular property.
  public func later(_ value: Value) throws(Refusal) -> Value {
    var value = value
    for step in steps { value = try step.later(value) }
    return value
  }

  /// A value of the property with this number in the older version.
  public func later(_ value: Value, of property: PropertyNumber) throws(Refusal) -> Value {
    var (value, property) = (value, property)
    for step in steps {
      value = try step.later(value, of: property)
      property = try step.later(property)
    }
    return value
  }

  /// Whether the newer version stores values of the older version's property in another form.
  public func isWidened(_ number: PropertyNumber) -> Bool {
    var number: PropertyNumber? = number
    for step in steps {
      guard let property = number else { return false }
      if case .whole? = step.forms[property] { return true }
      number = step.later[property]
    }
    return false
  }

  /// The translated transaction; it ignores concurrent changes of properties that its author can't see.
  public func later(_ transaction: Transaction) throws(Refusal) -> Transaction {
    var transaction = transaction
    for step in steps { transaction = try step.later(transaction) }
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
  public func later(predicate text: String, of number: EntityNumber) throws(Refusal) -> String {
    if text.isEmpty { return "" }
    let entity = try oldEntity(number)
    var predicate: GraphPredicate
    do {
      predicate = try GraphPredicate(parsing: text, entity: entity, model: old)
    } catch {
      throw Refusal(.malformed, "the predicate can't be read at \(error)")
    }
    for step in steps { predicate = try step.later(predicate) }
    return predicate.text(in: new)
  }

  /// The text of an expression.
  public func later(expression text: String, of number: EntityNumber) throws(Refusal) -> String {
    let entity = try oldEntity(number)
    var expression: GraphExpression
    do {
      expression = try GraphExpression(parsing: text, entity: entity, model: old)
    } catch {
      throw Refusal(.malformed, "the expression can't be read at \(error)")
    }
    for step in steps { expression = try step.later(expression) }
    return expression.text(in: new)
  }

  /// The text of sort keys.
  public func later(sort text: String, of number: EntityNumber) throws(Refusal) -> String {
    if text.isEmpty { return "" }
    let entity = try oldEntity(number)
    var keys: [SortKey]
    do {
      keys = try [SortKey](parsing: text, entity: entity, model: old)
    } catch {
      throw Refusal(.malformed, "the order can't be read at \(error)")
    }
    for step in steps { keys = try step.later(keys) }
    return keys.text(in: new)
  }

  /// The texts of a row request; the columns keep their names of the older version.
  public func later(
    rows properties: String, distinct: Bool, groups: String, order: String, of number: EntityNumber
  ) throws(Refusal) -> (properties: String, groups: String, order: String) {
    let entity = try oldEntity(number)
    var rows: RowRequest
    do {
      rows = try RowRequest(
        parsing: properties, distinct: distinct, groups: groups, order: order, entity: entity, model: old)
    } catch {
      throw Refusal(.malformed, error.description)
    }
    for step in steps { rows = try step.later(rows) }
    let columns = rows.columns.map { column in
      column.value.text(in: new) + " AS " + GraphExpression.value(.string(column.name)).text(in: new)
    }
    return (
      columns.joined(separator: ", "), rows.groups.map { $0.text(in: new) }.joined(separator: ", "),
      rows.standForObjects ? try later(sort: order, of: number) : order
    )
  }
}
