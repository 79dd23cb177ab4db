"""The pages of customers' accounts; what names a person is masked until somebody asks for it."""
