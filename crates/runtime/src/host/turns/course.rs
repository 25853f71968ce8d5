//! What an external agent has asked and ordered so far, over all the times that it began its day.

use papertape_core::external::{AgentRequest, Exchange};
use papertape_core::json::to_value;
use serde_json::Value;

/// The indexes of the exchanges that an agent repeats if it begins its day again as it did the last time.
pub(super) fn newest(history: &[Exchange]) -> Vec<usize> {
    let mut course = Vec::new();
    for (index, exchange) in history.iter().enumerate() {
        if let Some(repeated) = exchange.course {
            course.truncate(repeated);
        }
        course.push(index);
    }
    course
}

/// The orders that were placed, by their place among the orders of one course.
#[derive(Default)]
pub(super) struct EarlierOrders(Vec<Vec<(usize, Value)>>);

impl EarlierOrders {
    pub(super) fn of(history: &[Exchange]) -> Self {
        let mut places: Vec<Vec<(usize, Value)>> = Vec::new();
        // For each exchange of the course, the number of orders up to it.
        let mut course: Vec<usize> = Vec::new();
        for (index, exchange) in history.iter().enumerate() {
            if let Some(repeated) = exchange.course {
                course.truncate(repeated);
            }
            let place = course.last().copied().unwrap_or_default();
            let is_order = matches!(exchange.request, AgentRequest::Order { .. });
            course.push(place + usize::from(is_order));
            if !is_order {
                continue;
            }
            if places.len() <= place {
                places.resize_with(place + 1, Vec::new);
            }
            let original = exchange.repeats.unwrap_or(index);
            if places[place].iter().all(|(known, _)| *known != original) {
                places[place].push((original, to_value(&exchange.request)));
            }
        }
        Self(places)
    }

    /// The exchange of an equal order, redacted like the stored ones, at this place.
    pub(super) fn repeated(&self, place: usize, order: &Value) -> Option<usize> {
        let placed = self.0.get(place)?;
        placed.iter().find(|(_, placed)| placed == order).map(|(index, _)| *index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use papertape_core::external::AgentReply;
    use serde_json::{Map, json};

    fn order(symbol: &str) -> AgentRequest {
        let arguments = Map::from_iter([("symbol".to_owned(), json!(symbol))]);
        AgentRequest::Order { side: "buy".to_owned(), arguments }
    }

    fn read() -> AgentRequest {
        AgentRequest::Read { tool: "get_price".to_owned(), arguments: json!({}) }
    }

    fn exchange(request: AgentRequest, course: Option<usize>, repeats: Option<usize>) -> Exchange {
        Exchange { request, reply: AgentReply::Ok { result: json!(null) }, repeats, course }
    }

    // Goal: an agent that began its day again and took another course is expected to take that one the next time.
    #[test]
    fn the_newest_course_is_expected() {
        let history = [
            exchange(read(), None, None),
            exchange(order("A"), None, None),
            exchange(order("B"), None, None),
            exchange(read(), Some(1), None),
            exchange(order("B"), None, Some(2)),
        ];
        assert_eq!(newest(&history), [0, 3, 4]);
        assert_eq!(newest(&history[..3]), [0, 1, 2]);
    }

    // Goal: an order is repeated only where an equal one was placed at the same place, in whichever course.
    #[test]
    fn orders_are_repeated_at_their_place() {
        let history = [
            exchange(order("A"), None, None),
            exchange(order("B"), None, None),
            exchange(order("X"), Some(0), None),
            exchange(order("B"), None, Some(1)),
        ];
        let earlier = EarlierOrders::of(&history);
        assert_eq!(earlier.repeated(0, &to_value(&order("A"))), Some(0));
        assert_eq!(earlier.repeated(0, &to_value(&order("X"))), Some(2));
        assert_eq!(earlier.repeated(0, &to_value(&order("B"))), None, "at another place");
        assert_eq!(
            earlier.repeated(1, &to_value(&order("B"))),
            Some(1),
            "the order itself, not its repetition"
        );
        assert_eq!(earlier.repeated(2, &to_value(&order("B"))), None);
    }
}
