//! Everything in a database as SQL, so that two of them can be compared and an old one can be made again.

use durable_thinking::database::{Column, Database, Row};

/// The statements that make the database anew, one after the other.
pub fn statements(database: &impl Database) -> Vec<String> {
    let text = |row: &mut Row| {
        row.text(Column("a query of the tests", "a column"))
            .unwrap()
    };
    let mut statements = Vec::new();
    let schema =
        "select sql from sqlite_master where sql is not null order by type = 'index', rowid";
    for row in &mut database.query(schema, &[]).unwrap() {
        statements.push(text(row));
    }
    for table in tables(database) {
        let columns = format!("select name from pragma_table_info('{table}') order by cid");
        let quoted: Vec<String> = database
            .query(&columns, &[])
            .unwrap()
            .iter_mut()
            .map(|row| format!("quote({})", text(row)))
            .collect();
        let rows = format!("select {} from {table}", quoted.join(" || ', ' || "));
        let mut rows: Vec<String> = database
            .query(&rows, &[])
            .unwrap()
            .iter_mut()
            .map(|row| format!("insert into {table} values ({})", text(row)))
            .collect();
        rows.sort();
        statements.extend(rows);
    }
    statements
}

pub fn tables(database: &impl Database) -> Vec<String> {
    let sql = "select name from sqlite_master where type = 'table' order by rowid";
    let rows = &mut database.query(sql, &[]).unwrap();
    rows.iter_mut()
        .map(|row| row.text(Column("sqlite_master", "name")).unwrap())
        .collect()
}
