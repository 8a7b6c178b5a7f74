"""A coding agent of a few lines on the providers' own SDKs.

It runs tool conversations to their end, one after the other, and prints for each one JSON
object on a line: how many times the model spoke, how many tools were called, and what each
turn was billed. Any error of the SDK, or an answer that does not hold together, ends it
with an exit code that is not 0.
"""
import argparse
import json
import sys

import anthropic
import openai

SYSTEM = "You are a coding agent. Work through the task with the tools, one step at a time.\n" + "\n".join(
    f"Rule {i}: state what step {i % 7} found before the next one." for i in range(120))
TASK = "Find out why the parser drops the last record, and fix it."
PARAMETERS = {
    "Read": {"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]},
    "Bash": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    "Grep": {"type": "object", "properties": {"pattern": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["pattern", "limit"]},
}


def run_tool(name, arguments, step):
    """What a tool of a real agent would print; reads come back in part on later steps."""
    assert set(PARAMETERS[name]["required"]) <= set(arguments), (name, arguments)
    if name == "Read":
        first = 1 + 40 * (step % 3)
        return "\n".join(f"{n:6d}\t    record = parse_record(line_{n}, strict={n % 3 == 0})  # läßt {n}" for n in range(first, first + 120))
    if name == "Grep":
        return "\n".join(f"src/records/parser_{n % 4}.py:{n}:    record = parse_record(line_{n})" for n in range(60))
    tests = "\n".join(f"tests/test_records.py::test_case_{n:03d} \x1b[32mPASSED\x1b[0m" for n in range(80))
    return f"$ {arguments['command']}\n{tests}\n80 passed in 1.{step:02d}s\n"


class Tally:
    def __init__(self):
        self.usage, self.calls, self.final = [], 0, None

    def turn(self, fresh, read, write, output):
        self.usage.append({"fresh": fresh, "read": read, "write": write, "output": output})


def messages(args):
    client = anthropic.Anthropic(base_url=args.base_url, api_key="none", max_retries=0, timeout=60)
    tools = [{"name": n, "description": n, "input_schema": p} for n, p in PARAMETERS.items()]
    mark = {"type": "ephemeral"}
    history, tally = [{"role": "user", "content": TASK}], Tally()
    while True:
        request = dict(model="claude-opus-4-6", max_tokens=4096, tools=tools, messages=history,
                       thinking={"type": "enabled", "budget_tokens": 1024},
                       system=[{"type": "text", "text": SYSTEM, "cache_control": mark}],
                       metadata={"user_id": f"user_sdk_session_{args.session}"})
        if args.stream:
            with client.messages.stream(**request) as stream:
                texts = "".join(stream.text_stream)
                answer = stream.get_final_message()
            assert texts == "".join(b.text for b in answer.content if b.type == "text")
        else:
            answer = client.messages.create(**request)
        u = answer.usage
        assert u.cache_creation.ephemeral_5m_input_tokens == u.cache_creation_input_tokens
        tally.turn(u.input_tokens, u.cache_read_input_tokens, u.cache_creation_input_tokens, u.output_tokens)
        assert answer.content[0].type == "thinking" and answer.content[0].signature
        history.append({"role": "assistant", "content": [b.model_dump(mode="json", exclude_unset=True) for b in answer.content]})
        calls = [b for b in answer.content if b.type == "tool_use"]
        if not calls:
            assert answer.stop_reason == "end_turn"
            tally.final = answer.content[-1].text
            return tally
        assert answer.stop_reason == "tool_use"
        for message in history:
            if message["role"] == "user" and isinstance(message["content"], list):
                for block in message["content"]:
                    block.pop("cache_control", None)
        results = []
        for call in calls:
            tally.calls += 1
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": run_tool(call.name, call.input, tally.calls)})
        results[-1]["cache_control"] = mark
        history.append({"role": "user", "content": results})


def chat(args):
    client = openai.OpenAI(base_url=args.base_url, api_key="none", max_retries=0, timeout=60)
    tools = [{"type": "function", "function": {"name": n, "description": n, "parameters": p}} for n, p in PARAMETERS.items()]
    history, tally = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}], Tally()
    while True:
        request = dict(model="gpt-5.3-codex", messages=history, tools=tools, prompt_cache_key=args.session)
        if args.stream:
            with client.chat.completions.stream(**request, stream_options={"include_usage": True}) as stream:
                for _ in stream:
                    pass
                answer = stream.get_final_completion()
        else:
            answer = client.chat.completions.create(**request)
        cached = answer.usage.prompt_tokens_details.cached_tokens
        tally.turn(answer.usage.prompt_tokens - cached, cached, 0, answer.usage.completion_tokens)
        message = answer.choices[0].message
        history.append(message.model_dump(mode="json", include={"role", "content"}))
        if not message.tool_calls:
            assert answer.choices[0].finish_reason == "stop"
            tally.final = message.content
            return tally
        assert answer.choices[0].finish_reason == "tool_calls"
        history[-1]["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}} for c in message.tool_calls]
        for call in message.tool_calls:
            tally.calls += 1
            history.append({"role": "tool", "tool_call_id": call.id,
                            "content": run_tool(call.function.name, json.loads(call.function.arguments), tally.calls)})


def responses(args):
    client = openai.OpenAI(base_url=args.base_url, api_key="none", max_retries=0, timeout=60)
    tools = [{"type": "function", "name": n, "description": n, "parameters": p, "strict": False} for n, p in PARAMETERS.items()]
    history, tally, previous = [{"role": "user", "content": TASK}], Tally(), None
    while True:
        request = dict(model="gpt-5.5", instructions=SYSTEM, tools=tools, reasoning={"effort": "low"}, prompt_cache_key=args.session)
        if args.stateful:
            request |= dict(input=history, previous_response_id=previous)
        else:
            request |= dict(input=history, store=False, include=["reasoning.encrypted_content"])
        request = {k: v for k, v in request.items() if v is not None}
        if args.stream:
            with client.responses.stream(**request) as stream:
                for _ in stream:
                    pass
                answer = stream.get_final_response()
        else:
            answer = client.responses.create(**request)
        assert answer.status == "completed"
        cached = answer.usage.input_tokens_details.cached_tokens
        tally.turn(answer.usage.input_tokens - cached, cached, 0, answer.usage.output_tokens)
        assert answer.output[0].type == "reasoning"
        own = [item.model_dump(mode="json", exclude_unset=True, exclude={"parsed_arguments"}) for item in answer.output]
        history = [] if args.stateful else history + own
        previous = answer.id
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            tally.final = answer.output_text
            return tally
        for call in calls:
            tally.calls += 1
            history.append({"type": "function_call_output", "call_id": call.call_id,
                            "output": run_tool(call.name, json.loads(call.arguments), tally.calls)})


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("conversations", help="JSON: a list of objects with api, base_url, session, stream and stateful")
    for conversation in json.loads(p.parse_args().conversations):
        args = argparse.Namespace(**conversation)
        print("conversation", args.session, file=sys.stderr, flush=True)
        tally = {"messages": messages, "chat": chat, "responses": responses}[args.api](args)
        print(json.dumps({"turns": len(tally.usage), "calls": tally.calls, "final": tally.final, "usage": tally.usage}), flush=True)


if __name__ == "__main__":
    main()
