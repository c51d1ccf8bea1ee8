"""The OpenAPI document describes what the service does, though it reads bodies itself."""

import json
import re

from starlette.testclient import TestClient

from mmmem.api.errors import STATUS


def test_bodies_answers_and_errors_are_described(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    told = {"/add", "/search", "/explain"}
    users, memories = ({(path, "get"), (path, "delete")} for path in ("/users/{user_id}", "/memories/{id}"))
    stored = {*users, *memories, ("/memories", "get")}
    health = {"/health", "/health/live", "/health/ready"}
    assert set(document["paths"]) == told | {path for path, _ in stored} | health | {"/metrics"}
    for path, body in (("/add", "AddBody"), ("/search", "SearchBody"), ("/explain", "ExplainBody")):
        operation = document["paths"][path]["post"]
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        assert schema == {"$ref": f"#/components/schemas/{body}"}
        assert {int(status) for status in operation["responses"]} == {200, *STATUS.values()} - {404}
        assert operation["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorAnswer")
        assert operation["security"]
    for path, method in stored:
        operation = document["paths"][path][method]
        assert {parameter["name"] for parameter in operation["parameters"]} >= set(re.findall(r"{(\w+)}", path))
        unmet = {408, 413} if (path, method) == ("/memories/{id}", "get") else {404, 408, 413}
        assert {int(status) for status in operation["responses"]} == {200, *STATUS.values()} - unmet
        assert operation["security"]
    assert not any("security" in document["paths"][path]["get"] for path in health)
    metrics = document["paths"]["/metrics"]["get"]
    kinds = {status: set(answer["content"]) for status, answer in metrics["responses"].items()}
    assert kinds == {"200": {"text/plain"}, "401": {"application/json"}, "500": {"application/json"}}
    assert metrics["security"]


def test_every_reference_leads_somewhere(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert references
    assert references <= set(document["components"]["schemas"])


def test_required_fields_are_those_of_the_contract(client: TestClient) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert set(schemas["AddBody"]["required"]) == {"request_id", "user_id", "session_id", "messages"}
    assert set(schemas["MessageBody"]["required"]) == {"role", "content"}
    assert set(schemas["SearchBody"]["required"]) == {"query", "user_id", "top_k"}
