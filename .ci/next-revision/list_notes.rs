    fn list_notes(
        &self,
        _: &mut Self::Cx<'_>,
        params: Box<trueform_schema::ListNotesRequestParams>,
    ) -> Option<Self::Reply<trueform_schema::methods::ListNotes>> {
        let notes = vec![params.topic.unwrap_or_else(|| "all".to_owned())];
        let result = trueform_schema::ListNotesResult::new(notes);
        Some(Reply::Ready(Ok(result)))
    }

