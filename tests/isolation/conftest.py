import pytest
from audits_of import Case


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)
