"""What the schema of the API says of every operation alike."""

from typing import Any

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "stable, for programs"},
                "message": {"type": "string", "description": "a sentence, for people"},
                "fields": {
                    "type": "object",
                    "description": "field -> what is wrong with it",
                    "additionalProperties": {},
                },
            },
        }
    },
}


def add_errors(result: dict[str, Any], generator: object, request: object, public: bool) -> dict[str, Any]:
    """Every refusal has one shape, whatever was asked."""
    result.setdefault("components", {}).setdefault("schemas", {})["Error"] = ERROR
    refusal = {
        "description": "Refused, with the reason.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"]["4XX"] = refusal
    return result
